package lab

import (
	"testing"
	"time"
)

// Eventually asks until the condition holds, which it says by nil, and fails
// the test with its last error when the time is over. It is for what settles
// by itself, a move that waits for the next interrupt or a window that fills;
// an action is never in the condition.
func Eventually(t testing.TB, within time.Duration, condition func() error) {
	t.Helper()
	deadline := time.Now().Add(within)
	for {
		err := condition()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("not after %s: %v", within, err)
		}
		time.Sleep(500 * time.Millisecond)
	}
}
