package advisor

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// Fingerprint names a plan by what it would write on this boot: "sha256:" and
// the hex digest over the boot id and, for each change in order, the JSON array
// [kind, device, direction, queue, current, proposed], a line each. Change ids,
// IRQ numbers, rates and reasons are not in it.
func Fingerprint(bootID string, changes []Change) string {
	h := sha256.New()
	fmt.Fprintln(h, bootID)
	enc := json.NewEncoder(h)
	for i := range changes {
		c := &changes[i]
		// Strings, numbers and nil: Encode cannot fail, nor can a hash.
		_ = enc.Encode([]any{c.Kind, c.Device, c.Direction, c.Queue, c.Current, c.Proposed})
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}
