//go:build lab

package lab_test

import (
	"testing"
	"time"
)

// 30 s stand for the ten minutes of TestUntouchedLong.
func TestUntouched(t *testing.T) { untouched(t, 20, 30*time.Second) }
