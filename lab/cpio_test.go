package lab

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/netsteer/netsteer/internal/testenv"
)

// The header of the one entry, field by field as buffer-format.rst has them,
// padding to 4 after the name and after the content.
func TestArchiveLayout(t *testing.T) {
	var b bytes.Buffer
	a := newArchive(&b)
	a.file("/init", []byte("hello"))
	if err := a.close(); err != nil {
		t.Fatal(err)
	}
	want := "070701" + "00000001" + "000081ed" + "00000000" + "00000000" + "00000001" + "00000000" + "00000005" +
		"00000000" + "00000000" + "00000000" + "00000000" + "00000005" + "00000000" +
		"init\x00\x00" + "hello\x00\x00\x00"
	if got := b.String()[:len(want)]; got != want {
		t.Errorf("archive starts with\n%q, want\n%q", got, want)
	}
	if b.Len()%4 != 0 || !bytes.Contains(b.Bytes(), []byte("TRAILER!!!\x00")) {
		t.Errorf("archive of %d bytes has no trailer or no padding at its end", b.Len())
	}
}

// cpio(1) unpacks what the kernel is to unpack: each file under the
// directories that lead to it, in any order.
func TestArchiveIsReadByCpio(t *testing.T) {
	cpio := testenv.Tool(t, "cpio")
	files := map[string][]byte{"/init": []byte("one"), "/a/b/c": {}, "/a/d": bytes.Repeat([]byte("x"), 4097)}
	var b bytes.Buffer
	a := newArchive(&b)
	for name, content := range files {
		a.file(name, content)
	}
	if err := a.close(); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cmd := exec.Command(cpio, "-i", "--quiet")
	cmd.Dir, cmd.Stdin = dir, &b
	if message, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("cpio -i: %v\n%s", err, message)
	}
	for name, content := range files {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || !bytes.Equal(got, content) {
			t.Errorf("%s: %d bytes, %v; want %d", name, len(got), err, len(content))
		}
	}
}
