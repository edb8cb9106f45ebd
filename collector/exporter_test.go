package collector

import (
	"context"
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/netsteer/netsteer/watch"
)

// stopped is a clock that stands still.
func stopped() time.Time { return noon }

// Each of several scrapes at once sees one State and nothing of another's, for
// as long as it holds its families; sets are used again after that.
func TestScrapesAtOnce(t *testing.T) {
	small := generate(shape{devices: 1, pairs: 2, cpus: 2, spread: 1})
	large := generate(shape{devices: 3, pairs: 4, cpus: 4, spread: 2})
	want := map[*watch.State]map[string]float64{}
	for _, st := range []*watch.State{small, large} {
		want[st] = gather(t, New(Config{State: reading(st), Now: stopped}))
	}
	type key struct{}
	e := New(Config{Now: stopped, State: func(ctx context.Context) (*watch.State, func(), error) {
		return ctx.Value(key{}).(*watch.State), func() {}, nil
	}})
	var clients sync.WaitGroup
	for i := range 8 {
		st := small
		if i%2 == 0 {
			st = large
		}
		clients.Go(func() {
			for range 20 {
				mfs, done, err := e.Gather(context.WithValue(context.Background(), key{}, st))
				if err != nil {
					t.Error(err)
					return
				}
				time.Sleep(time.Duration(i) * 100 * time.Microsecond) // a slow client
				if got := flatten(t, mfs); !maps.Equal(got, want[st]) {
					t.Errorf("client %d got %d series, not its %d", i, len(got), len(want[st]))
				}
				done()
				done() // the second call must not hand the set out twice
			}
		})
	}
	clients.Wait()
	if len(e.free) == 0 || len(e.free) > keepSinks {
		t.Errorf("%d family sets kept, want 1 to %d", len(e.free), keepSinks)
	}
}

// The State's lease ends with the gathering, not with the client.
func TestLeaseIsShort(t *testing.T) {
	held := 0
	st := generate(shape{devices: 1, pairs: 1, cpus: 2})
	e := New(Config{State: func(context.Context) (*watch.State, func(), error) {
		held++
		return st, func() { held-- }, nil
	}})
	_, done, err := e.Gather(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	if held != 0 {
		t.Errorf("%d leases held while the client reads", held)
	}
}
