package web

import (
	"encoding/json"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/netsteer/netsteer/advisor"
	"github.com/netsteer/netsteer/apply"
	"github.com/netsteer/netsteer/host"
	"github.com/netsteer/netsteer/host/live"
	"github.com/netsteer/netsteer/host/record"
	"github.com/netsteer/netsteer/host/scan"
	"github.com/netsteer/netsteer/internal/testenv"
	"github.com/netsteer/netsteer/skew"
	"github.com/netsteer/netsteer/watch"
)

// stand is a server on a plain copy of the recorded host: the live Setter writes
// its files, and a test may look at each write, make it fail or wait.
type stand struct {
	*Handler
	dir, state string
	watcher    *watch.Watcher
	setter     *watchedSetter
}

type watchedSetter struct {
	*live.Setter
	dir       string
	inventory func() *host.Inventory
	sets      atomic.Int64
	mu        sync.Mutex
	// set, check stand in front of the real ones; an error is theirs.
	set, check func(host.Setting) error
}

func (s *watchedSetter) before(f *func(host.Setting) error, of host.Setting) error {
	s.mu.Lock()
	call := *f
	s.mu.Unlock()
	if call == nil {
		return nil
	}
	return call(of)
}

func (s *watchedSetter) on(f *func(host.Setting) error, call func(host.Setting) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	*f = call
}

func (s *watchedSetter) Check(of host.Setting, v host.Value) error {
	if err := s.before(&s.check, of); err != nil {
		return err
	}
	return s.Setter.Check(of, v)
}

func (s *watchedSetter) Set(of host.Setting, v host.Value) error {
	s.sets.Add(1)
	if err := s.before(&s.set, of); err != nil {
		return err
	}
	// A write(2) to a kernel file replaces its value, one to a plain file does not
	// remove what is longer.
	if err := os.Truncate(s.file(of), 0); err != nil {
		return err
	}
	return s.Setter.Set(of, v)
}

func (s *watchedSetter) file(of host.Setting) string {
	switch of.Kind {
	case host.IRQAffinity:
		irq := s.inventory().Device(of.Device).VectorOf(of).IRQ
		return filepath.Join(s.dir, "proc/irq", strconv.Itoa(irq), "smp_affinity_list")
	case host.RPSSockFlowEntries:
		return filepath.Join(s.dir, "proc/sys/net/core", string(of.Kind))
	}
	return filepath.Join(s.dir, "sys/class/net", of.Device, "queues", of.Direction.String()+"-"+strconv.Itoa(of.Queue), string(of.Kind))
}

// newStand makes the server; change may change its options.
func newStand(t *testing.T, change func(*Options)) *stand {
	t.Helper()
	s := &stand{dir: t.TempDir(), state: t.TempDir()}
	if err := os.CopyFS(s.dir, os.DirFS(filepath.Join(testenv.ModuleRoot(t), "testdata", "hosts", "two-nic-8cpu"))); err != nil {
		t.Fatal(err)
	}
	recording, err := record.Open(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { recording.Close() })
	s.watcher = watch.New(watch.Config{
		Scanner: scan.New(recording.Machine(), scan.Options{}), Interval: 5 * time.Second, Window: time.Minute, MaxAge: 30 * time.Second,
		Skew: skew.Options{MinRate: 100},
	})
	s.setter = &watchedSetter{
		Setter: live.NewSetter(filepath.Join(s.dir, "proc"), filepath.Join(s.dir, "sys"), s.watcher.Inventory),
		dir:    s.dir, inventory: s.watcher.Inventory,
	}
	o := Options{
		Watcher: s.watcher,
		Metrics: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { writeText(w, "netsteer_test 1\n") }), MetricsPath: "/metrics",
		Policy: advisor.Policy{Profile: advisor.Balanced},
		Engine: apply.New(apply.Options{
			Dir: s.state, Setter: s.setter, BootID: "0e8e1d0c-0000-4000-8000-000000000001",
			Inventory: func() (*host.Inventory, error) { return s.watcher.Inventory(), nil },
		}),
		Posts: Posts{Enabled: true},
	}
	if change != nil {
		change(&o)
	}
	s.Handler = New(o)
	runWatcher(t, s.watcher)
	return s
}

// anew is the same host behind another Handler.
func (s *stand) anew(change func(*Posts)) *stand {
	other := *s
	o := s.o
	if change != nil {
		change(&o.Posts)
	}
	other.Handler = New(o)
	return &other
}

func (s *stand) rejected(t *testing.T) uint64 {
	t.Helper()
	counts, err := s.o.Engine.Counts()
	if err != nil {
		t.Fatal(err)
	}
	return counts["rejected"].N
}

// local is a listener on loopback without authentication.
var local = Listener{Address: "127.0.0.1:10420", Local: true, Posts: true}

// request is one that curl would send on the host.
func request(method, path, body string) *http.Request {
	r := httptest.NewRequest(method, "http://localhost:10420"+path, strings.NewReader(body))
	r.RemoteAddr = "127.0.0.1:40000"
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	return r.WithContext(local.Context(r.Context()))
}

func (s *stand) ask(r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

// post asks for what must be answered with the status, and decodes the answer.
func (s *stand) post(t *testing.T, path, body string, status int, answer any) {
	t.Helper()
	w := s.ask(request(http.MethodPost, path, body))
	if w.Code != status {
		t.Fatalf("POST %s %s: status %d, want %d: %s", path, body, w.Code, status, w.Body)
	}
	decode(t, w, answer)
}

func (s *stand) get(t *testing.T, path string, answer any) {
	t.Helper()
	w := s.ask(request(http.MethodGet, path, ""))
	if w.Code != http.StatusOK {
		t.Fatalf("GET %s: status %d: %s", path, w.Code, w.Body)
	}
	decode(t, w, answer)
}

func decode(t *testing.T, w *httptest.ResponseRecorder, answer any) {
	t.Helper()
	dec := json.NewDecoder(w.Body)
	dec.DisallowUnknownFields()
	if err := dec.Decode(answer); err != nil {
		t.Fatal(err)
	}
}

// files are the contents of all files that settings are.
func (s *stand) files(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(s.dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		out[strings.TrimPrefix(path, s.dir+"/")] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func (s *stand) write(t *testing.T, name, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}
