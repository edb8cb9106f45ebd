package web

import (
	"context"
	"net"
)

// Listener is what a request came over. Servers put it into their BaseContext:
// a request without one comes from nowhere that may write.
type Listener struct {
	Address string // for people, as it was given
	// Local: a loopback address or a Unix socket, which nobody on the network
	// reaches.
	Local bool
	// Posts: it takes POST requests, if they are enabled at all.
	Posts bool
	// ConfigFile is its web configuration (TLS, users); "": none.
	ConfigFile string
}

type listenerKey struct{}

// Context returns ctx with the listener.
func (l Listener) Context(ctx context.Context) context.Context {
	return context.WithValue(ctx, listenerKey{}, l)
}

func listenerOf(ctx context.Context) Listener {
	l, _ := ctx.Value(listenerKey{}).(Listener)
	return l
}

// IsLocal reports whether nobody on the network reaches a listener of this
// address. 0.0.0.0 is reached by everybody, from the host as well.
func IsLocal(address net.Addr) bool {
	switch a := address.(type) {
	case *net.UnixAddr:
		return true
	case *net.TCPAddr:
		return a.IP.IsLoopback()
	}
	return false
}
