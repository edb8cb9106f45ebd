package main

import (
	"crypto/tls"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestAskHealth proves that a server counts as healthy as long as it answers,
// whatever it demands of those it serves.
func TestAskHealth(t *testing.T) {
	answer := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/-/healthy" {
				status = http.StatusNotFound
			}
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}
	tests := []struct {
		name      string
		status    int
		tls       bool
		wantCert  bool
		other     bool // another program answers
		said, err string
	}{
		{name: "plain", status: 200},
		{name: "another program", status: 200, other: true, err: "another program answers there"},
		{name: "password", status: 401, said: " (demands a password)"},
		{name: "failing", status: 500, err: "status 500"},
		{name: "TLS", status: 200, tls: true},
		{name: "TLS, password", status: 401, tls: true, said: " (demands a password)"},
		{name: "TLS, client certificate", status: 200, tls: true, wantCert: true, said: " (demands a client certificate)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			body := "netsteer is healthy.\n"
			if tt.other {
				body = "OK\n"
			}
			server := httptest.NewUnstartedServer(answer(tt.status, body))
			server.Config.ErrorLog = log.New(io.Discard, "", 0) // TLS faults are on purpose
			if tt.wantCert {
				server.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert}
			}
			if tt.tls {
				server.StartTLS()
			} else {
				server.Start()
			}
			defer server.Close()

			said, err := askHealth(server.Listener.Addr().String())
			if said != tt.said {
				t.Errorf("said %q, want %q", said, tt.said)
			}
			if got := errorText(err); got != tt.err {
				t.Errorf("error %q, want %q", got, tt.err)
			}
		})
	}
}

func TestAskHealthOfNobody(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	address := server.Listener.Addr().String()
	server.Close()
	if _, err := askHealth(address); err == nil || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("error %v, want connection refused", err)
	}
}

// TestLocalHost proves that what a server listens on becomes what a client on
// the same machine can dial.
func TestLocalHost(t *testing.T) {
	tests := []struct{ address, want, err string }{
		{address: ":10420", want: "127.0.0.1:10420"},
		{address: "0.0.0.0:80", want: "127.0.0.1:80"},
		{address: "[::]:80", want: "[::1]:80"},
		{address: "192.0.2.1:80", want: "192.0.2.1:80"},
		{address: "example.org:80", want: "example.org:80"},
		{address: "80", err: `--web.listen-address="80": not HOST:PORT or :PORT; e.g. :10420`},
	}
	for _, tt := range tests {
		got, err := localHost(tt.address)
		if got != tt.want || errorText(err) != tt.err {
			t.Errorf("%s: got %q, error %q; want %q, %q", tt.address, got, errorText(err), tt.want, tt.err)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
