package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
)

// maxBody bounds what is read of a request.
const maxBody = 1 << 20

// readBody decodes a JSON object into the fields that keys names. An empty body
// has none. It is strict, for what it asks for is written: an unknown, repeated
// or null key is refused, and so is a key in other letters.
func readBody(w http.ResponseWriter, r *http.Request, keys map[string]any) *Problem {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
		return problem(problemTooLarge, fmt.Sprintf("the body is larger than %d bytes", tooLarge.Limit))
	}
	if err != nil {
		return problem(problemBadRequest, "the body cannot be read: "+err.Error())
	}
	if p := checkType(r.Header, len(body) == 0); p != nil {
		return p
	}
	if len(bytes.TrimSpace(body)) == 0 {
		return nil
	}
	if err := decodeObject(body, keys); err != nil {
		return problem(problemBadRequest, "the body "+err.Error())
	}
	return nil
}

func checkType(header http.Header, empty bool) *Problem {
	contentType := header.Get("Content-Type")
	if contentType == "" && empty {
		return nil
	}
	if kind, _, err := mime.ParseMediaType(contentType); err != nil || kind != "application/json" {
		return problem(problemMediaType, fmt.Sprintf("Content-Type is %q; the body must be application/json, or empty without a type", contentType))
	}
	if encoding := header.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		return problem(problemMediaType, fmt.Sprintf("Content-Encoding is %q; the body must not be compressed", encoding))
	}
	return nil
}

func decodeObject(text []byte, keys map[string]any) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	if start, err := dec.Token(); err != nil {
		return notJSON(err)
	} else if start != json.Delim('{') {
		return errors.New("is no JSON object")
	}
	seen := map[string]bool{}
	for dec.More() {
		token, err := dec.Token()
		if err != nil {
			return notJSON(err)
		}
		key := token.(string) // More says that a member follows, and Token has checked its name
		field, known := keys[key]
		switch {
		case !known:
			return fmt.Errorf("has an unknown key %q; it may have %s", shorten(key), strings.Join(sortedKeys(keys), ", "))
		case seen[key]:
			return fmt.Errorf("has the key %q twice", key)
		}
		seen[key] = true
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return notJSON(err)
		}
		if string(raw) == "null" {
			return fmt.Errorf("has null for %q; leave the key out instead", key)
		}
		if err := json.Unmarshal(raw, field); err != nil {
			return fmt.Errorf("has for %q no value of its type: %w", key, err)
		}
	}
	if _, err := dec.Token(); err != nil {
		return notJSON(err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return errors.New("goes on after the JSON object")
	}
	return nil
}

func notJSON(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("is not JSON: it ends too early")
	}
	return fmt.Errorf("is not JSON: %w", err)
}

func sortedKeys(keys map[string]any) []string {
	names := make([]string, 0, len(keys))
	for key := range keys {
		names = append(names, key)
	}
	slices.Sort(names)
	return names
}

// shorten keeps a hostile text from filling an error line.
func shorten(s string) string {
	if len(s) > 40 {
		return s[:40] + "..."
	}
	return s
}
