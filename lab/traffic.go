package lab

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/netsteer/netsteer/lab/wire"
)

// Send puts the flows on the wire of the n-th NIC, at a steady rate, and gives
// the number of frames that the tap took. Frames that find the tap's queue full
// are not sent again, as on a wire.
func (r *Running) Send(n int, f Flows) (int, error) {
	if f.Packets <= 0 {
		return 0, errors.New("flows: packets must be positive")
	}
	return r.send(r.ctx, n, f)
}

// Stream is Send in the background, as many packets as it takes until stop is
// called, which gives their number; the end of the test stops it too.
func (r *Running) Stream(t testing.TB, n int, f Flows) (stop func() int) {
	t.Helper()
	ctx, cancel := context.WithCancel(r.ctx)
	f.Packets = math.MaxInt
	var taken int
	var fault error
	done := make(chan struct{})
	go func() {
		defer close(done)
		taken, fault = r.send(ctx, n, f)
	}()
	stop = sync.OnceValue(func() int {
		cancel()
		<-done
		if !errors.Is(fault, context.Canceled) {
			t.Errorf("stream on %s: %v", tap(n), fault)
		}
		return taken
	})
	t.Cleanup(func() { stop() })
	return stop
}

func (r *Running) send(ctx context.Context, n int, f Flows) (int, error) {
	if f.Count <= 0 || f.Rate <= 0 {
		return 0, errors.New("flows: count and rate must be positive")
	}
	to := f.To
	if !to.IsValid() {
		to = netip.PrefixFrom(address(n), 32)
	}
	frames := f.frames(mac(n), to)
	fd, err := r.packetSocket(tap(n))
	if err != nil {
		return 0, err
	}
	defer unix.Close(fd)
	// What a pause of this process held up is not made good by a burst, which
	// would overrun the guest's rings: at most 10 ms' worth goes out at once.
	burst := float64(f.Rate)/100 + 1
	taken, credit, last := 0, 0.0, time.Now()
	for sent := 0; sent < f.Packets; time.Sleep(time.Millisecond) {
		if err := ctx.Err(); err != nil {
			return taken, fmt.Errorf("%d of %d frames sent: %w", sent, f.Packets, err)
		}
		now := time.Now()
		credit = min(credit+now.Sub(last).Seconds()*float64(f.Rate), burst)
		last = now
		for ; credit >= 1 && sent < f.Packets; credit, sent = credit-1, sent+1 {
			if _, err := unix.Write(fd, frames[sent%len(frames)]); err == nil {
				taken++
			} else if !errors.Is(err, unix.ENOBUFS) && !errors.Is(err, unix.EAGAIN) {
				return taken, fmt.Errorf("sending on %s: %w", tap(n), err)
			}
		}
	}
	return taken, nil
}

// SendFromGuest lets PID 1 send out by the n-th NIC, to an address there that
// does not answer, or to where s.To says.
func (r *Running) SendFromGuest(n int, s wire.Send) (packets int, err error) {
	if s.To == "" {
		s.To = netip.AddrPortFrom(sink(n), wire.DiscardPort).String()
	}
	var sent wire.Sent
	err = r.control(http.MethodPost, "/send", nil, s, &sent)
	return sent.Packets, err
}

// packetSocket is a raw socket that only sends, on that device.
func (r *Running) packetSocket(device string) (fd int, err error) {
	err = r.ns.do(func() error {
		link, err := net.InterfaceByName(device)
		if err != nil {
			return err
		}
		// Protocol 0 receives nothing.
		fd, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return fmt.Errorf("packet socket: %w", err)
		}
		if err := unix.Bind(fd, &unix.SockaddrLinklayer{Ifindex: link.Index}); err != nil {
			unix.Close(fd)
			return fmt.Errorf("packet socket on %s: %w", device, err)
		}
		return nil
	})
	return fd, err
}
