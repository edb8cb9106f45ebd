package web

import (
	"encoding/json"
	"testing"
)

// FuzzBody proves that what is taken is JSON that says the same to any other
// reader, and that nothing makes the decoder panic.
func FuzzBody(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"devices":["eth0"],"dry_run":true}`, `{"kinds":["irq_affinity"],"verify_seconds":0} `, `{"devices":null}`, `[]`, `{"a":`, `{"devices":["a"]}{}`,
		`{"\u0064evices":["eth0"]}`, `{"profile":"x","profile":"y"}`, `{1:2}`, `{"devices":["eth0",]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var body, other ApplyBody
		if err := decodeObject(text, body.keys()); err != nil {
			return
		}
		if err := json.Unmarshal(text, &other); err != nil {
			t.Fatalf("taken, but %v", err)
		}
		a, _ := json.Marshal(body)
		b, _ := json.Marshal(other)
		if string(a) != string(b) {
			t.Errorf("read as %s, by others as %s", a, b)
		}
	})
}
