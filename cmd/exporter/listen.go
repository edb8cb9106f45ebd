package main

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"syscall"

	"github.com/coreos/go-systemd/v22/activation"
	"github.com/mdlayher/vsock"
	"github.com/prometheus/exporter-toolkit/web"
)

const defaultAddress = ":10420"

// listen opens every listener before anything is served, so that an address in
// use is the one line that people see.
func listen(flags *web.FlagConfig) ([]net.Listener, error) {
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
			closeAll(listeners)
			return nil, explainListen(address, err)
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

func explainListen(address string, err error) error {
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
	return fmt.Errorf("--web.listen-address=%q: %s", address, what)
}

func closeAll(listeners []net.Listener) {
	for _, l := range listeners {
		_ = l.Close() // it may be closed already
	}
}
