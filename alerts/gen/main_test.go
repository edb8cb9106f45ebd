package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestCheckFindsDrift(t *testing.T) {
	dir := t.TempDir()
	args := []string{"-config=../config.yaml", "-out=" + dir}
	var out bytes.Buffer
	if err := run(args, &out); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "netsteer.rules.yaml")
	if !strings.Contains(out.String(), path+"\n") {
		t.Errorf("it does not say that it wrote %s:\n%s", path, out.String())
	}
	check := slices.Concat(args, []string{"-check"})
	if err := run(check, &out); err != nil {
		t.Errorf("just written: %v", err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append(content, '\n'), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run(check, &out); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("changed by hand: %v, want an error that names %s", err, path)
	}
	if err := run(append(check, "-scale=20"), &out); err == nil {
		t.Error("another scale is no drift")
	}
	if err := run([]string{"alerts"}, &out); err == nil {
		t.Error("an argument is accepted")
	}
}
