package main

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/netsteer/netsteer/internal/testenv"
)

// TestServeSeesNewDevice proves, with the kernel's own veth in a namespace of
// its own, that a device made while the server runs shows long before the slow
// clock of settings (60 s): the kernel's notification is heard.
func TestServeSeesNewDevice(t *testing.T) {
	ns := testenv.Netns(t)
	const address = "127.0.0.1:10420"
	server := exec.Command(testenv.Tool(t, "ip"), "netns", "exec", ns.Name, "netsteer", "--web.listen-address="+address)
	var log strings.Builder
	server.Stderr = &log
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = server.Process.Signal(syscall.SIGTERM)
		if err := server.Wait(); err != nil {
			t.Errorf("the server ended with %v:\n%s", err, log.String())
		}
	}()

	const series = `netsteer_queue_rps_cpus{device="nst0",queue="7"} 0`
	page := eventually(t, ns, address, "/metrics", func(page string) bool {
		return strings.Contains(page, "netsteer_cpu_info{")
	})
	if strings.Contains(page, `device="nst0"`) {
		t.Fatal("nst0 is there before it is made")
	}
	ns.Run(t, "ip", "link", "add", "nst0", "numtxqueues", "8", "numrxqueues", "8", "type", "veth",
		"peer", "name", "nst1", "numtxqueues", "8", "numrxqueues", "8")
	eventually(t, ns, address, "/metrics", func(page string) bool { return strings.Contains(page, series) })

	ns.Run(t, "ip", "link", "del", "nst0")
	eventually(t, ns, address, "/metrics", func(page string) bool { return !strings.Contains(page, `device="nst0"`) })
}

// eventually asks until the page is as wanted, for at most half of the slow
// clock's time.
func eventually(t *testing.T, ns *testenv.NS, address, path string, want func(string) bool) string {
	t.Helper()
	var page string
	var err error
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		ns.Do(t, func() { page, err = getHere(address, path) })
		if err == nil && want(page) {
			return page
		}
	}
	var queues []string
	for line := range strings.Lines(page) {
		if strings.HasPrefix(line, "netsteer_queue_rps_cpus{") {
			queues = append(queues, line)
		}
	}
	t.Fatalf("not as wanted after 30 s; last error %v, last page of %d bytes with these queues: %q", err, len(page), queues)
	return ""
}

// getHere dials on the calling thread, and so in its namespace: an http.Client
// dials on another.
func getHere(address, path string) (string, error) {
	conn, err := net.DialTimeout("tcp", address, 5*time.Second)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	request, err := http.NewRequest(http.MethodGet, "http://"+address+path, nil)
	if err != nil {
		return "", err
	}
	request.Close = true
	if err := errors.Join(conn.SetDeadline(time.Now().Add(10*time.Second)), request.Write(conn)); err != nil {
		return "", err
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return string(body), err
}
