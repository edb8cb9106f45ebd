//go:build lablong

package lab_test

import (
	"testing"
	"time"
)

func TestUntouchedLong(t *testing.T) { untouched(t, 1, 10*time.Minute) }
