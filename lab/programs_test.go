package lab

import (
	"os"
	"testing"

	"github.com/netsteer/netsteer/internal/testenv"
)

// A shell goes with its loader and its C library, or a guest could not start it.
func TestProgram(t *testing.T) {
	files, err := Program("/bin/sh", testenv.Tool(t, "dash"), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, inside := range []string{"/bin/sh", "/lib64/ld-linux-x86-64.so.2", "/lib/x86_64-linux-gnu/libc.so.6"} {
		if _, err := os.Stat(files[inside]); err != nil {
			t.Errorf("%s: %v", inside, err)
		}
	}
}

func TestProgramThatIsNone(t *testing.T) {
	if _, err := Program("/bin/sh", "programs_test.go", ""); err == nil {
		t.Error("a text file was taken for a program")
	}
}
