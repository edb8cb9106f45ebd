package main

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/alecthomas/kingpin/v2"
)

// healthTimeout is short: a container runtime asks every few seconds.
const healthTimeout = 3 * time.Second

func addHealthcheck(app *kingpin.Application) command {
	cmd := app.Command("healthcheck", "Ask the server of this machine whether it is healthy; for container images.")
	address := cmd.Flag("web.listen-address", "The address that the server listens on.").Default(defaultAddress).String()
	return func(stdout, _ io.Writer) error {
		host, err := localHost(*address)
		if err != nil {
			return err
		}
		said, err := askHealth(host)
		if err != nil {
			return fmt.Errorf("%s is not healthy: %w", host, err)
		}
		fmt.Fprintf(stdout, "%s is healthy%s\n", host, said)
		return nil
	}
}

// localHost makes what a server listens on into what a client on the same
// machine dials: every address becomes the loopback one.
func localHost(address string) (string, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil || strings.Contains(address, "://") {
		return "", fmt.Errorf("--web.listen-address=%q: not HOST:PORT or :PORT; e.g. %s", address, defaultAddress)
	}
	switch host {
	case "", "0.0.0.0":
		host = "127.0.0.1"
	case "::":
		host = "::1"
	}
	return net.JoinHostPort(host, port), nil
}

// askHealth asks over HTTP and, when told that the server speaks TLS, over
// HTTPS. A server that demands a password or a client certificate lives: saying
// so takes the same loop that would answer. said is that, for people.
func askHealth(host string) (said string, err error) {
	client := &http.Client{
		Timeout: healthTimeout,
		Transport: &http.Transport{
			DisableKeepAlives: true,
			TLSClientConfig: &tls.Config{
				InsecureSkipVerify: true, //nolint:gosec // its certificate has the host's name, not the loopback address; nothing secret is sent
			},
		},
	}
	status, ours, err := getHealth(client, "http://"+host)
	if err == nil && status == http.StatusBadRequest {
		status, ours, err = getHealth(client, "https://"+host)
	}
	// crypto/tls wraps the server's alert so (Go 1.26, conn.go); its own type is
	// not exported.
	var refused *net.OpError
	switch {
	case errors.As(err, &refused) && refused.Op == "remote error":
		return " (demands a client certificate)", nil
	case err != nil:
		return "", err
	case status == http.StatusUnauthorized:
		return " (demands a password)", nil
	case status != http.StatusOK:
		return "", fmt.Errorf("status %d", status)
	case !ours:
		return "", errors.New("another program answers there")
	}
	return "", nil
}

// getHealth returns the status, and whether it is netsteer that answered.
func getHealth(client *http.Client, base string) (status int, ours bool, err error) {
	response, err := client.Get(base + "/-/healthy")
	if err != nil {
		return 0, false, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, 64))
	return response.StatusCode, strings.HasPrefix(string(body), "netsteer "), err
}
