package main

import (
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestServeOnSystemdSocket hands a socket over as systemd does (sd_listen_fds(3):
// descriptor 3, LISTEN_PID that of the program) and asks on it.
func TestServeOnSystemdSocket(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	socket, err := listener.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()

	server := exec.Command("sh", "-c", "LISTEN_FDS=1 LISTEN_PID=$$ exec netsteer --web.systemd-socket")
	server.ExtraFiles = []*os.File{socket}
	var log strings.Builder
	server.Stderr = &log
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}

	// The socket listens already: the request waits until the server takes it.
	client := &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Get("http://" + listener.Addr().String() + "/-/healthy")
	if err != nil {
		t.Errorf("no answer on the socket: %v", err)
	} else {
		body, _ := io.ReadAll(response.Body)
		response.Body.Close()
		if response.StatusCode != http.StatusOK || string(body) != "netsteer is healthy.\n" {
			t.Errorf("%s: %s", response.Status, body)
		}
	}
	_ = server.Process.Signal(syscall.SIGTERM)
	if err := server.Wait(); err != nil {
		t.Errorf("the server ended with %v:\n%s", err, log.String())
	}
}
