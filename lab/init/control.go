package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/netsteer/netsteer/lab/wire"
)

var started = time.Now()

// serve is the control server; it returns only on failure.
func serve(devices []string) error {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /ready", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, wire.Ready{Devices: devices, UptimeSeconds: uptime()})
	})
	mux.HandleFunc("GET /file", func(w http.ResponseWriter, r *http.Request) {
		text, err := os.ReadFile(r.FormValue("path"))
		give(w, text, err)
	})
	mux.HandleFunc("GET /dir", func(w http.ResponseWriter, r *http.Request) {
		entries, err := os.ReadDir(r.FormValue("path"))
		var names strings.Builder
		for _, e := range entries {
			fmt.Fprintln(&names, e.Name())
		}
		give(w, []byte(names.String()), err)
	})
	mux.HandleFunc("GET /link", func(w http.ResponseWriter, r *http.Request) {
		to, err := os.Readlink(r.FormValue("path"))
		give(w, []byte(to), err)
	})
	mux.HandleFunc("PUT /file", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		answer(w, wire.Written{Errno: write(r.URL.Query().Get("path"), body)})
	})
	mux.HandleFunc("POST /run", func(w http.ResponseWriter, r *http.Request) {
		var body wire.Run
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil || len(body.Args) == 0 {
			http.Error(w, "a JSON body with args is wanted", http.StatusBadRequest)
			return
		}
		answer(w, execute(body.Args))
	})
	mux.HandleFunc("POST /send", func(w http.ResponseWriter, r *http.Request) {
		var body wire.Send
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		sent, err := send(body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusUnprocessableEntity)
			return
		}
		answer(w, sent)
	})
	return http.ListenAndServe(fmt.Sprintf(":%d", wire.ControlPort), mux)
}

// write is one write(2) of the whole text: kernel files take a value in one
// call or not at all, and os.WriteFile would try to truncate.
func write(path string, text []byte) (errno int) {
	fd, err := unix.Open(path, unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err == nil {
		_, err = unix.Write(fd, text)
		unix.Close(fd)
	}
	var number syscall.Errno
	if errors.As(err, &number) {
		return int(number)
	}
	return 0
}

func execute(args []string) wire.Ran {
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if cmd.ProcessState == nil {
		return wire.Ran{Code: -1, Stderr: err.Error()}
	}
	return wire.Ran{Code: cmd.ProcessState.ExitCode(), Stdout: stdout.String(), Stderr: stderr.String()}
}

func give(w http.ResponseWriter, text []byte, err error) {
	if err != nil {
		status := http.StatusUnprocessableEntity
		if errors.Is(err, os.ErrNotExist) {
			status = http.StatusNotFound
		}
		http.Error(w, err.Error(), status)
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	_, _ = w.Write(text)
}

func answer(w http.ResponseWriter, body any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(body)
}

// uptime is the guest's, in seconds.
func uptime() float64 {
	var now unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &now) != nil {
		return time.Since(started).Seconds()
	}
	return time.Duration(now.Nano()).Seconds()
}
