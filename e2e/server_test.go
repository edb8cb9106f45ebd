//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/netsteer/netsteer/internal/testenv"
)

const (
	startTimeout = 30 * time.Second // systemd with all its filters takes 3 to 5 on an idle machine
	stopTimeout  = 10 * time.Second
)

// binary gives the path of what `make build` has built.
func binary(t *testing.T) string {
	t.Helper()
	path := filepath.Join(testenv.ModuleRoot(t), "netsteer")
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%v; run make build first", err)
	}
	return path
}

// process is a started program; its output is shown when the test fails.
type process struct {
	cmd    *exec.Cmd
	output bytes.Buffer // read after ended only
	ended  chan struct{}
}

func start(t *testing.T, path string, args ...string) *process {
	t.Helper()
	return startCmd(t, exec.Command(path, args...))
}

func startCmd(t *testing.T, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{cmd: cmd, ended: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = &p.output, &p.output
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = p.cmd.Wait() // ProcessState says it all
		close(p.ended)
	}()
	t.Cleanup(func() {
		p.stop(t)
		if t.Failed() {
			t.Logf("%s said:\n%s", filepath.Base(cmd.Path), p.output.String())
		}
	})
	return p
}

// stop asks the process to end and gives its exit status; asked again, it gives
// the same.
func (p *process) stop(t *testing.T) int {
	t.Helper()
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // it may have ended already
	select {
	case <-p.ended:
	case <-time.After(stopTimeout):
		t.Errorf("still there %v after SIGTERM", stopTimeout)
		_ = p.cmd.Process.Kill()
		<-p.ended
	}
	return p.cmd.ProcessState.ExitCode()
}

// serve starts `netsteer serve` on a free loopback port, waits until it is
// ready, and gives it with its address.
func serve(t *testing.T, args ...string) (*process, string) {
	t.Helper()
	address := freeAddress(t)
	p := start(t, binary(t), append([]string{"--web.listen-address=" + address}, args...)...)
	waitReady(t, p, "http://"+address+"/-/ready")
	return p, address
}

// waitReady asks url until it answers 200.
func waitReady(t *testing.T, p *process, url string) {
	t.Helper()
	last := "no answer yet"
	for deadline := time.Now().Add(startTimeout); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		select {
		case <-p.ended:
			t.Fatalf("ended with %d before it was ready", p.cmd.ProcessState.ExitCode())
		default:
		}
		status, body, err := fetch(url)
		if err == nil && status == http.StatusOK {
			return
		}
		last = fmt.Sprint(status, " ", body, err)
	}
	t.Fatalf("%s is not ready after %v: %s", url, startTimeout, last)
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func fetch(url string) (status int, body string, err error) {
	client := http.Client{Timeout: 20 * time.Second}
	resp, err := client.Get(url)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	content, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(content), err
}

// get is fetch for what must be there.
func get(t *testing.T, url string) string {
	t.Helper()
	status, body, err := fetch(url)
	if err != nil || status != http.StatusOK {
		t.Fatalf("GET %s: status %d, error %v\n%s", url, status, err, body)
	}
	return body
}

// result is what a command that has ended left behind.
type result struct {
	exit           int
	stdout, stderr string
}

func run(t *testing.T, stdin string, path string, args ...string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &stdout, &stderr
	err := cmd.Run()
	if cmd.ProcessState == nil || ctx.Err() != nil {
		t.Fatalf("%s %q: %v %v", path, args, err, ctx.Err())
	}
	return result{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// checkMetrics fails the test unless promtool finds nothing to say.
func checkMetrics(t *testing.T, text string) {
	t.Helper()
	r := run(t, text, testenv.Tool(t, "promtool"), "check", "metrics")
	if r.exit != 0 || r.stdout+r.stderr != "" {
		t.Errorf("promtool check metrics: exit %d\n%s%s", r.exit, r.stdout, r.stderr)
	}
}

// has tells whether a sample of the metric is in a text exposition.
func has(text, metric string) bool {
	return strings.Contains("\n"+text, "\n"+metric+"{") || strings.Contains("\n"+text, "\n"+metric+" ")
}
