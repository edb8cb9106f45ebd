package lab

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/netsteer/netsteer/lab/wire"
)

// ReadFile gives the bytes of a guest's file as its kernel gave them.
func (r *Running) ReadFile(path string) (string, error) {
	var content string
	err := r.control(http.MethodGet, "/file", url.Values{"path": {path}}, nil, &content)
	return content, err
}

// List gives the names in a guest's directory, sorted.
func (r *Running) List(path string) ([]string, error) {
	var names string
	err := r.control(http.MethodGet, "/dir", url.Values{"path": {path}}, nil, &names)
	return strings.Fields(names), err
}

// ReadLink gives where a guest's symbolic link points.
func (r *Running) ReadLink(path string) (string, error) {
	var to string
	err := r.control(http.MethodGet, "/link", url.Values{"path": {path}}, nil, &to)
	return to, err
}

// WriteFile writes text to a guest's file in one write(2). What the kernel
// refuses is a syscall.Errno.
func (r *Running) WriteFile(path, text string) error {
	var written wire.Written
	if err := r.control(http.MethodPut, "/file", url.Values{"path": {path}}, []byte(text), &written); err != nil {
		return err
	}
	if written.Errno != 0 {
		return fmt.Errorf("guest: writing %q to %s: %w", text, path, syscall.Errno(written.Errno))
	}
	return nil
}

// Run runs a program of the guest to its end.
func (r *Running) Run(args ...string) (wire.Ran, error) {
	var ran wire.Ran
	err := r.control(http.MethodPost, "/run", nil, wire.Run{Args: args}, &ran)
	return ran, err
}

// Uptime is the guest's clock: by it, not by the host's, windows are judged.
func (r *Running) Uptime() (time.Duration, error) {
	var ready wire.Ready
	err := r.control(http.MethodGet, "/ready", nil, nil, &ready)
	return time.Duration(ready.UptimeSeconds * float64(time.Second)), err
}

// Client reaches the guest: its dials happen in the guest's network namespace.
func (r *Running) Client() *http.Client { return r.client }

// URL is a path of the program under test, on its usual port, with the guest's
// User.
func (r *Running) URL(path string) string {
	u := url.URL{Scheme: "http", User: r.User, Host: r.Target()}
	return u.String() + path
}

// Target is the program under test as a Prometheus names it, address:port.
func (r *Running) Target() string { return fmt.Sprintf("%s:%d", address(0), programPort) }

// programPort is netsteer's.
const programPort = 10420

// Get gives the body of a path of the program under test; any status but 200
// is an error with the body's first line.
func (r *Running) Get(path string) ([]byte, error) {
	return r.do(r.ctx, http.MethodGet, r.URL(path), nil)
}

// Post sends a body to a path of the program under test, as the guest's User,
// and gives what came back, whatever the status. JSON is said to be JSON, as
// curl --json does; an empty body says nothing.
func (r *Running) Post(path, body string) (status int, answer []byte, err error) {
	return r.Ask(http.MethodPost, r.URL(path), body)
}

// Ask is one request to any URL in the guest's network namespace.
func (r *Running) Ask(method, to, body string) (status int, answer []byte, err error) {
	request, err := http.NewRequestWithContext(r.ctx, method, to, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := r.client.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	answer, err = io.ReadAll(response.Body)
	return response.StatusCode, answer, err
}

// control is one request to PID 1. A []byte body goes as it is, any other as
// JSON; a *string takes the answer as it is, any other is filled from JSON.
func (r *Running) control(method, path string, query url.Values, body, into any) error {
	return r.controlWithin(r.ctx, 0, method, path, query, body, into)
}

// controlWithin is control with a limit of its own, 0 for the client's.
func (r *Running) controlWithin(ctx context.Context, limit time.Duration, method, path string, query url.Values, body, into any) error {
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	content, raw := body.([]byte)
	if !raw && body != nil {
		var err error
		if content, err = json.Marshal(body); err != nil {
			return err
		}
	}
	to := url.URL{Scheme: "http", Host: fmt.Sprintf("%s:%d", address(0), wire.ControlPort), Path: path, RawQuery: query.Encode()}
	answer, err := r.do(ctx, method, to.String(), content)
	if err != nil {
		return fmt.Errorf("guest: %w", err)
	}
	if asText, ok := into.(*string); ok {
		*asText = string(answer)
		return nil
	}
	return json.Unmarshal(answer, into)
}

func (r *Running) do(ctx context.Context, method, to string, body []byte) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, to, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	response, err := r.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", method, to, err)
	}
	if response.StatusCode != http.StatusOK {
		line, _, _ := strings.Cut(string(answer), "\n")
		return nil, fmt.Errorf("%s %s: %s: %s", method, to, response.Status, line)
	}
	return answer, nil
}
