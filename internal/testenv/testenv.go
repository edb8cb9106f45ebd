// Package testenv hands tests what they need from the machine, or skips them
// naming what is missing.
//
// With NETSTEER_TEST_NO_SKIP=1 a missing tool or privilege fails the test
// instead: CI has everything installed, so a skip there hides a hole. Shared is
// excepted, for the shared folder is not part of the repository.
package testenv

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// NoSkip is the environment variable that turns skips into failures.
const NoSkip = "NETSTEER_TEST_NO_SKIP"

// Shared gives the path of a file or folder under ../shared, beside the module
// root, and skips the test when it is absent.
func Shared(t testing.TB, elem ...string) string {
	t.Helper()
	path := filepath.Join(append([]string{filepath.Dir(ModuleRoot(t)), "shared"}, elem...)...)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no ../%s beside the module", filepath.Join(append([]string{"shared"}, elem...)...))
	}
	return path
}

// Tool gives the path of an executable from PATH, /usr/sbin or /sbin, and skips
// the test when there is none.
func Tool(t testing.TB, name string) string {
	t.Helper()
	path, err := findTool(name)
	if err != nil {
		missing(t, err.Error())
	}
	return path
}

// Root skips the test unless it runs with effective uid 0.
func Root(t testing.TB) {
	t.Helper()
	if os.Geteuid() != 0 {
		missing(t, "needs root")
	}
}

// ModuleRoot gives the folder that holds go.mod, upward from the test's own
// folder.
func ModuleRoot(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		} else if !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Fatal("no go.mod above the test's folder")
		}
		dir = up
	}
}

// findTool also looks in the sbin folders: they are absent from a plain user's
// PATH on Debian, yet that is where ip and ethtool are.
func findTool(name string) (string, error) {
	for _, candidate := range []string{name, "/usr/sbin/" + name, "/sbin/" + name} {
		if path, err := exec.LookPath(candidate); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("needs %s, which is not installed", name)
}

func missing(t testing.TB, why string) {
	t.Helper()
	if os.Getenv(NoSkip) == "1" {
		t.Fatalf("%s (%s=1 forbids the skip)", why, NoSkip)
	}
	t.Skip(why)
}
