package main

import (
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/netsteer/netsteer/internal/testenv"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"netsteer": main})
}

// TestCommands proves what each command prints, and that bad input is one clear
// line on stderr, nothing on stdout and exit status 1.
func TestCommands(t *testing.T) {
	recorded := filepath.Join(testenv.ModuleRoot(t), "testdata", "hosts", "two-nic-8cpu")
	testscript.Run(t, testscript.Params{
		Dir:  "testdata/script",
		Cmds: scriptCommands,
		Setup: func(env *testscript.Env) error {
			env.Setenv("RECORDED", recorded)
			env.Setenv("CONTRACT", filepath.Join(testenv.ModuleRoot(t), "testdata", "contract"))
			return nil
		},
	})
}

// TestServe proves that the server answers on every listener, that promtool
// likes what it says of this machine, and that it ends when told.
func TestServe(t *testing.T) {
	promtool := testenv.Tool(t, "promtool")
	testscript.Run(t, testscript.Params{
		Dir:  "testdata/serve",
		Cmds: scriptCommands,
		Setup: func(env *testscript.Env) error {
			env.Setenv("PROMTOOL", promtool)
			return nil
		},
	})
}

var scriptCommands = map[string]func(*testscript.TestScript, bool, []string){
	"refuses":  scriptRefuses,
	"freeport": scriptFreePort,
	"get":      scriptGet,
}

// scriptRefuses checks that the last command said this one line and nothing else.
func scriptRefuses(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: refuses LINE")
	}
	if out := ts.ReadFile("stdout"); out != "" {
		ts.Fatalf("stdout is not empty: %s", out)
	}
	want := "netsteer: error: " + args[0] + "\n"
	if got := ts.ReadFile("stderr"); got != want {
		ts.Fatalf("stderr\n got: %swant: %s", got, want)
	}
}

// scriptFreePort puts a port that is free now into a variable.
func scriptFreePort(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: freeport VARIABLE")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	_, port, err := net.SplitHostPort(l.Addr().String())
	ts.Check(err)
	ts.Check(l.Close())
	ts.Setenv(args[0], port)
}

// scriptGet asks until the status is the wanted one, for a server takes a
// moment to start, and writes the body to a file.
func scriptGet(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: get STATUS URL FILE")
	}
	client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	var last string
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		response, err := client.Get(args[1])
		if err != nil {
			last = err.Error()
			continue
		}
		body, err := io.ReadAll(response.Body)
		response.Body.Close()
		ts.Check(err)
		if strings.HasPrefix(response.Status, args[0]) {
			ts.Check(os.WriteFile(ts.MkAbs(args[2]), body, 0o644))
			return
		}
		last = response.Status + ": " + string(body)
	}
	ts.Fatalf("no status %s from %s; last: %s", args[0], args[1], last)
}
