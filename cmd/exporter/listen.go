package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/coreos/go-systemd/v22/activation"
	"github.com/mdlayher/vsock"
	toolkit "github.com/prometheus/exporter-toolkit/web"

	"github.com/netsteer/netsteer/web"
)

const defaultAddress = ":10420"

// endpoint is a listener with what requests that come over it may do.
type endpoint struct {
	net.Listener
	as web.Listener
}

// listen opens every listener before anything is served, so that an address in
// use is the one line that people see; so is one that would let anybody write.
func (s *serve) listen() (endpoints []endpoint, err error) {
	defer func() {
		if err != nil {
			closeAll(endpoints)
		}
	}()
	main, err := listenMain(s.web)
	add := func(l net.Listener, config string, posts bool) {
		endpoints = append(endpoints, endpoint{l, web.Listener{
			Address: l.Addr().String(), Local: web.IsLocal(l.Addr()), Posts: posts, ConfigFile: config,
		}})
	}
	for _, l := range main {
		add(l, *s.web.WebConfigFile, s.writing.enabled && len(s.writing.addresses) == 0)
	}
	if err != nil {
		return endpoints, err
	}
	for _, address := range s.writing.addresses {
		l, err := listenApply(address)
		if err != nil {
			return endpoints, explainListen("--web.apply-listen-address", address, err)
		}
		add(l, s.writing.config, true)
	}
	for _, e := range endpoints {
		if err := s.writing.admits(e.as); err != nil {
			return endpoints, err
		}
	}
	return endpoints, nil
}

func listenMain(flags *toolkit.FlagConfig) ([]net.Listener, error) {
	if *flags.WebSystemdSocket {
		listeners, err := activation.Listeners()
		if err != nil {
			return nil, fmt.Errorf("--web.systemd-socket: %w", err)
		}
		if len(listeners) == 0 {
			return nil, errors.New("--web.systemd-socket: systemd handed over no socket; start it by a .socket unit, or leave the flag out")
		}
		return listeners, nil
	}
	var listeners []net.Listener
	for _, address := range *flags.WebListenAddresses {
		l, err := listenOn(address)
		if err != nil {
			return listeners, explainListen("--web.listen-address", address, err)
		}
		listeners = append(listeners, l)
	}
	return listeners, nil
}

func listenOn(address string) (net.Listener, error) {
	if port, ok := strings.CutPrefix(address, "vsock://:"); ok {
		n, err := strconv.ParseUint(port, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("%q is not a vsock port", port)
		}
		return vsock.Listen(uint32(n), nil)
	}
	return net.Listen("tcp", address)
}

// listenApply takes host:port or unix:PATH. A socket that a former process left
// is replaced, one that somebody listens on is not.
func listenApply(address string) (net.Listener, error) {
	path, isUnix := strings.CutPrefix(address, "unix:")
	if !isUnix {
		return net.Listen("tcp", address)
	}
	if info, err := os.Lstat(path); err == nil && info.Mode().Type() == fs.ModeSocket {
		if conn, err := net.Dial("unix", path); err == nil {
			_ = conn.Close() // it was a question only
			return nil, syscall.EADDRINUSE
		} else if errors.Is(err, syscall.ECONNREFUSED) {
			_ = os.Remove(path) // or Listen says what is wrong
		}
	}
	// Who may connect may write settings: owner and group, from the first moment.
	before := syscall.Umask(0o117)
	defer syscall.Umask(before)
	return net.Listen("unix", path)
}

func explainListen(flag, address string, err error) error {
	what := err.Error()
	var op *net.OpError
	if errors.As(err, &op) {
		what = op.Err.Error() // without the address, which is named already
	}
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		what = "address already in use; stop what listens there or choose another"
	case errors.Is(err, syscall.EACCES):
		what += "; ports below 1024 need CAP_NET_BIND_SERVICE"
	}
	return fmt.Errorf("%s=%q: %s", flag, address, what)
}

func closeAll(endpoints []endpoint) {
	for _, e := range endpoints {
		_ = e.Close() // it may be closed already
	}
}
