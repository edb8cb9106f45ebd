package main

import (
	"context"
	"log/slog"

	"github.com/netsteer/netsteer/host/netlink"
)

// notifications signal that the kernel told of a changed link or ethtool
// setting, until ctx ends. Several make one. Without netlink there are none and
// settings are seen on the slow clock alone.
func notifications(ctx context.Context, logger *slog.Logger) <-chan struct{} {
	changed := make(chan struct{}, 1)
	go func() {
		conn, err := netlink.Dial()
		if err == nil {
			defer func() { _ = conn.Close() }()
			err = conn.Monitor(ctx, func(netlink.Event) {
				select {
				case changed <- struct{}{}:
				default: // it is signalled already
				}
			})
		}
		if ctx.Err() == nil {
			logger.Warn("No notifications of changed settings; they are seen within a minute", "err", err)
		}
	}()
	return changed
}
