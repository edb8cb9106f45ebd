package web

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"github.com/netsteer/netsteer/advisor"
	"github.com/netsteer/netsteer/apply"
	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/internal/testenv"
)

// usersFile demands alice (secret) or reader (secret).
const usersFile = `basic_auth_users:
  alice: $2a$04$jcuztPhjPuqcqIp96PuDL.g38RHBWt89ktln0wBNLhjQrBX0fQb4G
  reader: $2a$04$jcuztPhjPuqcqIp96PuDL.g38RHBWt89ktln0wBNLhjQrBX0fQb4G
`

func webConfig(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "web.yml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// open is a listener that the network reaches.
func open(config string) Listener {
	return Listener{Address: "[::]:10420", Posts: true, ConfigFile: config}
}

func over(l Listener) func(*http.Request) {
	return func(r *http.Request) { *r = *r.WithContext(l.Context(r.Context())) }
}

func header(name, value string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set(name, value) }
}

// TestRefused proves of every bad request its status, type and one clear line,
// and that nothing is written: no setting, no record; and that it is counted.
func TestRefused(t *testing.T) {
	users := webConfig(t, usersFile)
	shared := newStand(t, nil)
	for name, tt := range map[string]struct {
		posts   func(*Posts)
		path    string // default /apply
		method  string // default POST
		body    string
		with    func(*http.Request)
		fail    func(host.Setting) error // of Check
		status  int
		problem string
		detail  string // part of it
	}{
		"GET": {method: "GET", status: 405, problem: "method-not-allowed", detail: "it takes POST"},
		"without the flag": {posts: func(p *Posts) { p.Enabled = false },
			status: 403, problem: "apply-disabled", detail: "--web.enable-apply"},
		"rollback without the flag": {path: "/rollback", posts: func(p *Posts) { p.Enabled = false },
			status: 403, problem: "apply-disabled", detail: "--web.enable-apply"},
		"moved elsewhere": {posts: func(p *Posts) { p.MovedTo = []string{"unix:/run/n.sock"} }, with: over(Listener{Local: true}),
			status: 403, problem: "apply-disabled", detail: "unix:/run/n.sock"},
		"a connection from nowhere": {with: over(Listener{}),
			status: 403, problem: "apply-disabled", detail: "this listener"},
		"open listener without authentication": {with: over(open("")),
			status: 403, problem: "apply-disabled", detail: "[::]:10420 is reached over the network"},
		"open listener whose file demands nothing": {with: over(open(webConfig(t, ""))),
			status: 403, problem: "apply-disabled", detail: "demand users"},
		"open listener whose file is gone": {with: over(open("/nonexistent/web.yml")),
			status: 403, problem: "apply-disabled", detail: "no such file"},
		"open listener whose file is no YAML": {with: over(open(webConfig(t, "basic_auth_users:\n  - alice\nusers: x\n"))),
			status: 403, problem: "apply-disabled", detail: "users not found in type"},
		"certificates of anybody's authority": {with: over(open(webConfig(t, "tls_server_config:\n  cert_file: c\n  key_file: k\n  client_auth_type: RequireAndVerifyClientCert\n"))),
			status: 403, problem: "apply-disabled", detail: "demand users"},
		"a certificate if one likes": {with: over(open(webConfig(t, "tls_server_config:\n  cert_file: c\n  key_file: k\n  client_ca_file: a\n  client_auth_type: VerifyClientCertIfGiven\n"))),
			status: 403, problem: "apply-disabled", detail: "demand users"},
		"a connection older than the demand for certificates": {with: over(open(webConfig(t, "tls_server_config:\n  cert_file: c\n  key_file: k\n  client_ca_file: a\n  client_auth_type: RequireAndVerifyClientCert\n"))),
			status: 403, problem: "user-not-allowed", detail: "connect anew"},
		"a user let in by the file as it was": {with: func(r *http.Request) { over(open(users))(r); r.SetBasicAuth("alice", "wrong") },
			status: 403, problem: "user-not-allowed", detail: "no such user"},
		"no user": {with: over(open(users)),
			status: 403, problem: "user-not-allowed", detail: "no such user"},
		"another user": {posts: func(p *Posts) { p.Users = []string{"alice"} },
			with:   func(r *http.Request) { over(open(users))(r); r.SetBasicAuth("reader", "secret") },
			status: 403, problem: "user-not-allowed", detail: `"reader" may look`},
		"a name is wanted and nobody asks for one": {posts: func(p *Posts) { p.Users = []string{"alice"} },
			status: 403, problem: "user-not-allowed", detail: "--web.apply-user"},
		"a page of another site": {with: header("Sec-Fetch-Site", "cross-site"),
			status: 403, problem: "cross-site", detail: "another site"},
		"a page of another origin": {with: header("Origin", "http://evil.example"),
			status: 403, problem: "cross-site", detail: "another site"},
		"a name that points here": {with: func(r *http.Request) { r.Host = "evil.example:10420" },
			status: 403, problem: "cross-site", detail: `"evil.example:10420"`},
		"an address that is not this host's": {with: func(r *http.Request) { r.Host = "192.0.2.1" },
			status: 403, problem: "cross-site", detail: "192.0.2.1"},
		"no Host": {with: func(r *http.Request) { r.Host = "" },
			status: 403, problem: "cross-site", detail: `""`},

		"a form":                  {body: "a=b", with: header("Content-Type", "application/x-www-form-urlencoded"), status: 415, problem: "unsupported-media-type", detail: "application/json"},
		"text":                    {body: "{}", with: header("Content-Type", "text/plain"), status: 415, problem: "unsupported-media-type", detail: "text/plain"},
		"a form without a body":   {with: header("Content-Type", "application/x-www-form-urlencoded"), status: 415, problem: "unsupported-media-type", detail: "or empty"},
		"JSON without a type":     {body: "{}", with: func(r *http.Request) { r.Header.Del("Content-Type") }, status: 415, problem: "unsupported-media-type", detail: `""`},
		"compressed":              {body: "{}", with: header("Content-Encoding", "gzip"), status: 415, problem: "unsupported-media-type", detail: "gzip"},
		"oversized":               {body: `{"profile":"` + strings.Repeat("x", 1<<20) + `"}`, status: 413, problem: "too-large", detail: "1048576"},
		"cut off":                 {body: `{"devices":["eth0"`, status: 400, problem: "bad-request", detail: "ends too early"},
		"no object":               {body: `["eth0"]`, status: 400, problem: "bad-request", detail: "no JSON object"},
		"no JSON":                 {body: `devices=eth0`, status: 400, problem: "bad-request", detail: "is not JSON"},
		"two objects":             {body: `{}{}`, status: 400, problem: "bad-request", detail: "goes on"},
		"an unknown key":          {body: `{"device":"eth0"}`, status: 400, problem: "bad-request", detail: `unknown key "device"`},
		"a key in other letters":  {body: `{"Devices":["eth0"]}`, status: 400, problem: "bad-request", detail: `unknown key "Devices"`},
		"a key twice":             {body: `{"devices":["eth0"],"devices":["eth1"]}`, status: 400, problem: "bad-request", detail: `"devices" twice`},
		"null":                    {body: `{"devices":null}`, status: 400, problem: "bad-request", detail: "null"},
		"a wrong type":            {body: `{"devices":"eth0"}`, status: 400, problem: "bad-request", detail: `"devices"`},
		"a number out of range":   {body: `{"verify_seconds":1e99}`, status: 400, problem: "bad-request", detail: `"verify_seconds"`},
		"an empty list":           {body: `{"devices":[]}`, status: 400, problem: "bad-request", detail: "leave the key out"},
		"no kinds":                {body: `{"kinds":[]}`, status: 400, problem: "bad-request", detail: "leave the key out"},
		"negative seconds":        {body: `{"verify_seconds":-1}`, status: 400, problem: "bad-request", detail: "negative"},
		"verification":            {body: `{"verify_seconds":30}`, status: 422, problem: "refused", detail: "not there yet"},
		"confirmation":            {body: `{"confirm_seconds":30}`, status: 422, problem: "refused", detail: "not there yet"},
		"an unknown profile":      {body: `{"profile":"fastest"}`, status: 422, problem: "refused", detail: `"fastest" is not one of balanced`},
		"an unknown device":       {body: `{"devices":["eth9"]}`, status: 422, problem: "unknown-device", detail: `no device "eth9"; there are: bond0, eth0`},
		"a path for a device":     {body: `{"devices":["../../etc/passwd"]}`, status: 422, problem: "unknown-device", detail: "passwd"},
		"a device of others":      {body: `{"devices":["bond0"]}`, status: 422, problem: "unknown-device", detail: "eth1"},
		"an unknown kind":         {body: `{"kinds":["smp_affinity"]}`, status: 422, problem: "unknown-kind", detail: `"smp_affinity"`},
		"a plan never given out":  {body: `{"fingerprint":"sha256:00"}`, status: 409, problem: "plan-changed", detail: "sha256:00"},
		"no rollback to make":     {path: "/rollback", body: "{}", status: 404, problem: "unknown-transaction", detail: "no committed transaction"},
		"an unknown transaction":  {path: "/rollback", body: `{"transaction":"20260101T000000Z-0000"}`, status: 404, problem: "unknown-transaction", detail: "20260101T000000Z-0000"},
		"a path for a rollback":   {path: "/rollback", body: `{"transaction":"../../../etc/passwd"}`, status: 404, problem: "unknown-transaction", detail: "passwd"},
		"unknown key of rollback": {path: "/rollback", body: `{"id":"x"}`, status: 400, problem: "bad-request", detail: "it may have force, transaction"},

		"EACCES":          {fail: failing(unix.EACCES), status: 403, problem: "not-privileged", detail: "permission denied"},
		"EROFS":           {fail: failing(unix.EROFS), status: 403, problem: "not-privileged", detail: "read-only"},
		"EPERM of a mask": {body: `{"kinds":["rps_cpus"]}`, fail: failing(unix.EPERM), status: 403, problem: "not-privileged", detail: "not permitted"},
		"gone meanwhile":  {fail: failing(unix.ENOENT), status: 422, problem: "refused", detail: "is not there"},
	} {
		t.Run(name, func(t *testing.T) {
			s := shared.anew(tt.posts) // with a budget of POSTs of its own
			s.setter.on(&s.setter.check, tt.fail)
			before := s.files(t)
			rejected := s.rejected(t)
			method, path := "POST", "/apply"
			if tt.method != "" {
				method = tt.method
			}
			if tt.path != "" {
				path = tt.path
			}
			r := request(method, path, tt.body)
			if tt.with != nil {
				tt.with(r)
			}
			w := s.ask(r)
			if w.Code != tt.status || w.Header().Get("Content-Type") != "application/problem+json" {
				t.Fatalf("status %d, %s; want %d: %s", w.Code, w.Header().Get("Content-Type"), tt.status, w.Body)
			}
			var p Problem
			decode(t, w, &p)
			if p.Type != "urn:netsteer:problem:"+tt.problem || p.Status != tt.status {
				t.Errorf("type %s, want %s", p.Type, tt.problem)
			}
			if !strings.Contains(p.Detail, tt.detail) || strings.ContainsAny(p.Detail, "\r\n") || len(p.Detail) > 400 {
				t.Errorf("detail %q; want one line with %q", p.Detail, tt.detail)
			}
			if (p.Advice != nil) != (tt.problem == "plan-changed") {
				t.Errorf("advice %v with %s", p.Advice, tt.problem)
			}
			if n := s.setter.sets.Load(); n != 0 || !maps.Equal(before, s.files(t)) {
				t.Errorf("%d writes", n)
			}
			if all, err := s.o.Engine.List(); len(all) != 0 || err != nil {
				t.Errorf("recorded: %v, %v", all, err)
			}
			if got := s.rejected(t) - rejected; method == "POST" && got != 1 {
				t.Errorf("counted %d times as rejected", got)
			}
		})
	}
}

func failing(errno unix.Errno) func(host.Setting) error {
	return func(of host.Setting) error { return fmt.Errorf("%s: %w", of, errno) }
}

// A device that goes between plan and write takes the whole transaction back; a
// full disk stops it before its first write.
func TestGoneBetweenPlanAndWrite(t *testing.T) {
	s := newStand(t, nil)
	before := s.files(t)
	n := 0
	s.setter.on(&s.setter.set, func(of host.Setting) error {
		if n++; n == 4 {
			return fmt.Errorf("%s: %w", of, unix.ENODEV)
		}
		return nil
	})
	var p Problem
	s.post(t, "/apply", "", 422, &p)
	if p.Type != "urn:netsteer:problem:rolled-back" || p.Transaction.State != apply.RolledBack {
		t.Errorf("%+v", p)
	}
	for name, text := range s.files(t) {
		if strings.TrimLeft(strings.TrimSpace(text), "0,") != strings.TrimLeft(strings.TrimSpace(before[name]), "0,") {
			t.Errorf("%s is %q, was %q", name, text, before[name])
		}
	}
}

func TestFullDisk(t *testing.T) {
	testenv.Root(t)
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=4k"); err != nil {
		t.Skipf("mount: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	if err := os.WriteFile(filepath.Join(dir, "full"), make([]byte, 4096), 0o600); err != nil {
		t.Fatal(err)
	}
	s := newStand(t, func(o *Options) { o.Engine = nil })
	s.o.Engine = apply.New(apply.Options{Dir: dir, Setter: s.setter, Inventory: func() (*host.Inventory, error) { return s.watcher.Inventory(), nil }})
	before := s.files(t)
	var p Problem
	s.post(t, "/apply", "", 422, &p)
	if p.Type != "urn:netsteer:problem:refused" || !strings.Contains(p.Detail, "no space left on device") {
		t.Errorf("%+v", p)
	}
	if s.setter.sets.Load() != 0 || !maps.Equal(before, s.files(t)) {
		t.Error("something was written without a record")
	}
}

// TestAdmitted proves who may write, and under which name it is recorded.
func TestAdmitted(t *testing.T) {
	users := webConfig(t, usersFile)
	certificates := webConfig(t, "tls_server_config:\n  cert_file: c\n  key_file: k\n  client_ca_file: a\n  client_auth_type: RequireAndVerifyClientCert\n")
	presented := func(leaf *x509.Certificate) func(*http.Request) {
		return func(r *http.Request) {
			over(open(certificates))(r)
			r.Host = "netsteer.example"
			r.TLS = &tls.ConnectionState{VerifiedChains: [][]*x509.Certificate{{leaf}}}
		}
	}
	for name, tt := range map[string]struct {
		users []string
		with  func(*http.Request)
		actor string
	}{
		"loopback":        {nil, func(*http.Request) {}, "http:@127.0.0.1"},
		"loopback, IPv6":  {nil, func(r *http.Request) { r.Host, r.RemoteAddr = "[::1]:10420", "[::1]:5" }, "http:@::1"},
		"loopback, names": {nil, func(r *http.Request) { r.Host = "LocalHost" }, "http:@127.0.0.1"},
		"Unix socket":     {nil, func(r *http.Request) { r.Host, r.RemoteAddr = "localhost", "@" }, "http:@unix"},
		"its own page":    {nil, header("Sec-Fetch-Site", "same-origin"), "http:@127.0.0.1"},
		"a user over the network": {nil, func(r *http.Request) {
			over(open(users))(r)
			r.Host, r.RemoteAddr = "netsteer.example", "192.0.2.7:999"
			r.SetBasicAuth("alice", "secret")
		}, "http:alice@192.0.2.7"},
		"a user who is named": {[]string{"bob", "alice"}, func(r *http.Request) {
			over(open(users))(r)
			r.SetBasicAuth("alice", "secret")
		}, "http:alice@127.0.0.1"},
		"a certificate":                  {nil, presented(&x509.Certificate{Subject: pkix.Name{CommonName: "ops"}}), "http:ops@127.0.0.1"},
		"a certificate by its DNS name":  {[]string{"ops.example"}, presented(&x509.Certificate{DNSNames: []string{"x", "ops.example"}}), "http:x@127.0.0.1"},
		"a certificate by its IP":        {[]string{"192.0.2.9"}, presented(&x509.Certificate{IPAddresses: []net.IP{net.IPv4(192, 0, 2, 9)}}), "http:192.0.2.9@127.0.0.1"},
		"a user name nobody has checked": {nil, func(r *http.Request) { r.SetBasicAuth("root", "x") }, "http:@127.0.0.1"},
	} {
		t.Run(name, func(t *testing.T) {
			h := New(Options{Watcher: newWatcher(t), Metrics: http.NotFoundHandler(), MetricsPath: "/metrics", Engine: apply.New(apply.Options{}), Posts: Posts{Enabled: true, Users: tt.users}})
			r := request("POST", "/apply", "")
			tt.with(r)
			w := noAnswer{http.Header{}}
			actor, refusal := h.admit(w, r)
			if refusal != nil || actor != tt.actor {
				t.Errorf("actor %q, refused %+v; want %q", actor, refusal, tt.actor)
			}
		})
	}
}

// noAnswer has headers only.
type noAnswer struct{ header http.Header }

func (n noAnswer) Header() http.Header         { return n.header }
func (n noAnswer) Write(b []byte) (int, error) { return len(b), nil }
func (n noAnswer) WriteHeader(int)             {}

// Five POSTs at once, then one per second; the answer says how long to wait, and
// reading is never limited.
func TestLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t, nil)
		codes := func(n int) (codes []int) {
			for range n {
				w := s.ask(request("POST", "/rollback", "{}"))
				codes = append(codes, w.Code)
				if w.Code == 429 && w.Header().Get("Retry-After") != "1" {
					t.Errorf("Retry-After %q", w.Header().Get("Retry-After"))
				}
			}
			return codes
		}
		if got, want := codes(7), []int{404, 404, 404, 404, 404, 429, 429}; !slices.Equal(got, want) {
			t.Errorf("seven at once: %v, want %v", got, want)
		}
		time.Sleep(2 * time.Second)
		if got, want := codes(3), []int{404, 404, 429}; !slices.Equal(got, want) {
			t.Errorf("two seconds later: %v, want %v", got, want)
		}
		var plan advisor.Advice
		for range 20 {
			s.get(t, "/advice", &plan)
		}
	})
}

// A demand that comes or goes while the server runs counts at once.
func TestConfigChanges(t *testing.T) {
	s := newStand(t, nil)
	file := webConfig(t, usersFile)
	ask := func() int {
		r := request("POST", "/rollback", "{}")
		over(open(file))(r)
		r.SetBasicAuth("alice", "secret")
		return s.ask(r).Code
	}
	if got := ask(); got != 404 {
		t.Errorf("with users: %d", got)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := ask(); got != 403 {
		t.Errorf("after the users are gone: %d, want 403", got)
	}
}

func TestIsLocal(t *testing.T) {
	for address, want := range map[string]bool{
		"127.0.0.1:1": true, "127.8.8.8:1": true, "[::1]:1": true, "0.0.0.0:1": false, "[::]:1": false, "192.0.2.1:1": false, "[::ffff:127.0.0.1]:1": true,
	} {
		tcp, err := net.ResolveTCPAddr("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		if IsLocal(tcp) != want {
			t.Errorf("%s: %v", address, !want)
		}
	}
	if !IsLocal(&net.UnixAddr{Name: "/run/x", Net: "unix"}) {
		t.Error("a Unix socket is not local")
	}
}

// TestProblemsContract lists every problem type with its status; a change needs a
// CHANGELOG line.
func TestProblemsContract(t *testing.T) {
	var lines []string
	for word, status := range statuses {
		lines = append(lines, fmt.Sprintf("%d urn:netsteer:problem:%s\n", status, word))
	}
	slices.Sort(lines)
	testenv.Golden(t, "problems.txt", strings.Join(lines, ""))
}
