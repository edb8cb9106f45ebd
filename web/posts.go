package web

import (
	"fmt"
	"math"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/time/rate"
)

// Posts says who may write.
type Posts struct {
	// Enabled is --web.enable-apply; without it nobody may.
	Enabled bool
	// MovedTo are the addresses of --web.apply-listen-address, for those who come
	// to another listener.
	MovedTo []string
	// Users are --web.apply-user: user names or names of client certificates;
	// empty: everybody whom the listener lets in.
	Users []string
}

// postRate and postBurst bound what clients may ask for: each POST reads the
// whole machine, and takes the time of a bcrypt hash.
const (
	postRate  = rate.Limit(1) // per second
	postBurst = 5
)

type callerHandler func(w http.ResponseWriter, r *http.Request, actor string)

// post lets a request through to next if its client may write. What may be asked
// for cheaply is asked first.
func (h *Handler) post(next callerHandler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		actor, refusal := h.admit(w, r)
		if refusal != nil {
			h.refuse(w, refusal)
			return
		}
		next(w, r, actor)
	}
}

// refuse answers a POST that never came to the Engine, which counts its own
// refusals.
func (h *Handler) refuse(w http.ResponseWriter, p *Problem) {
	h.o.Engine.Reject()
	p.write(w)
}

// admit finds out who sends a POST and whether he may.
func (h *Handler) admit(w http.ResponseWriter, r *http.Request) (actor string, refusal *Problem) {
	rules, l := &h.o.Posts, listenerOf(r.Context())
	if !rules.Enabled {
		return "", problem(problemApplyDisabled, "this server only shows; started with --web.enable-apply it would write")
	}
	if !l.Posts {
		detail := "nothing may be written over this listener"
		if len(rules.MovedTo) > 0 {
			detail += "; --web.apply-listen-address has moved POST to " + strings.Join(rules.MovedTo, ", ")
		}
		return "", problem(problemApplyDisabled, detail)
	}
	demands, err := ReadDemands(l.ConfigFile)
	if err != nil {
		return "", problem(problemApplyDisabled, "the web configuration cannot be read, and so not who may write: "+err.Error())
	}
	if err := CheckListener(l, demands); err != nil {
		return "", problem(problemApplyDisabled, err.Error())
	}
	if err := h.crossOrigin.Check(r); err != nil {
		return "", problem(problemCrossSite, "a page of another site sent this: "+err.Error())
	}
	if !demands.Any() && !localHost(r.Host) {
		// A name that a page's owner points at 127.0.0.1 is the page's own origin.
		return "", problem(problemCrossSite, fmt.Sprintf("the Host header is %q; on a listener without authentication it must be localhost or a loopback address", r.Host))
	}
	if wait := h.overLimit(); wait > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(wait))
		return "", problem(problemTooMany, fmt.Sprintf("more than one POST per second; try again in %d s", wait))
	}
	who, err := demands.identify(r)
	if err != nil {
		return "", problem(problemUserNotAllowed, err.Error())
	}
	if len(rules.Users) > 0 && !slices.ContainsFunc(who.names, func(name string) bool { return slices.Contains(rules.Users, name) }) {
		if who.name == "" {
			return "", problem(problemUserNotAllowed, "--web.apply-user names who may write, and this listener asks nobody for a name; its web configuration must demand users or client certificates")
		}
		return "", problem(problemUserNotAllowed, fmt.Sprintf("%q may look, not write: --web.apply-user names others", who.name))
	}
	return "http:" + who.name + "@" + remote(r, l), nil
}

// CheckListener says why a POST over the listener must be refused: anybody on
// the network could send it.
func CheckListener(l Listener, d Demands) error {
	if l.Local || d.Any() {
		return nil
	}
	return fmt.Errorf("%s is reached over the network and asks for no user: listen on 127.0.0.1, or demand users or verified client certificates in its web configuration (--web.config.file, --web.apply-config.file), or give POST a listener of its own (--web.apply-listen-address=unix:/run/netsteer.sock)", l.Address)
}

// overLimit takes one POST from the budget, or says how many seconds to wait.
func (h *Handler) overLimit() (seconds int) {
	now := h.now()
	reservation := h.limit.ReserveN(now, 1)
	delay := reservation.DelayFrom(now)
	if delay <= 0 {
		return 0
	}
	reservation.CancelAt(now)
	return int(math.Ceil(delay.Seconds()))
}

// localHost reports whether a Host header names this host to itself.
func localHost(hostport string) bool {
	name := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		name = h
	}
	if strings.EqualFold(name, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(strings.Trim(name, "[]"))
	return err == nil && ip.Unmap().IsLoopback()
}

// remote is where a request comes from, for the record.
func remote(r *http.Request, l Listener) string {
	if address, err := netip.ParseAddrPort(r.RemoteAddr); err == nil {
		return address.Addr().Unmap().String()
	}
	if _, _, err := net.SplitHostPort(r.RemoteAddr); err != nil && l.Local {
		return "unix"
	}
	return r.RemoteAddr
}
