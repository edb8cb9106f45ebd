package main

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kingpin/v2"
)

// flagValue is a kingpin value whose errors name the flag: kingpin's own say
// what is wrong, but not where.
type flagValue struct {
	clause *kingpin.FlagClause
	text   string
	set    func(string) error
}

func (v *flagValue) String() string { return v.text }

func (v *flagValue) Set(text string) error {
	if err := v.set(text); err != nil {
		return &flagError{v.clause.Model().Name, text, err}
	}
	v.text = text
	return nil
}

// flagError says which flag has a value that it can't have, and why.
type flagError struct {
	name, text string
	err        error
}

func (e *flagError) Error() string { return fmt.Sprintf("--%s=%q: %v", e.name, e.text, e.err) }
func (e *flagError) Unwrap() error { return e.err }

// parsed makes a flag put what parse makes of its text into target.
func parsed[T any](clause *kingpin.FlagClause, target *T, parse func(string) (T, error)) {
	clause.SetValue(&flagValue{clause: clause, set: func(text string) error {
		v, err := parse(text)
		if err == nil {
			*target = v
		}
		return err
	}})
}

func parseDuration(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	switch {
	case err != nil:
		return 0, errors.New("not a duration; e.g. 500ms, 5s or 1m")
	case d <= 0:
		return 0, errors.New("must be above 0; e.g. 5s")
	}
	return d, nil
}

// shortestInterval keeps a typing error (5 for 5s is refused, 5ms is not) from
// taking a whole CPU.
const shortestInterval = 100 * time.Millisecond

func parseInterval(text string) (time.Duration, error) {
	d, err := parseDuration(text)
	if err == nil && d < shortestInterval {
		err = fmt.Errorf("must be at least %s", shortestInterval)
	}
	return d, err
}

func parsePositive(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, errors.New("not a whole number above 0")
	}
	return n, nil
}

func parseNotNegative(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, errors.New("not a whole number of at least 0")
	}
	return n, nil
}

func parseRate(text string) (float64, error) {
	r, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(r) || math.IsInf(r, 0) || r < 0 {
		return 0, errors.New("not a number of packets per second of at least 0; e.g. 100")
	}
	return r, nil
}

// parseRegexp anchors the expression: "eth" must not take in "veth0".
func parseRegexp(text string) (*regexp.Regexp, error) {
	if _, err := syntax.Parse(text, syntax.Perl); err != nil {
		reason := err.Error()
		if fault := new(syntax.Error); errors.As(err, &fault) {
			reason = fault.Code.String()
		}
		return nil, fmt.Errorf("not a regular expression (RE2): %s; e.g. eth.*|enp1s0f0", reason)
	}
	return regexp.Compile("^(?:" + text + ")$")
}

func parseOneOf(words ...string) func(string) (string, error) {
	return func(text string) (string, error) {
		if !slices.Contains(words, text) {
			return "", fmt.Errorf("must be %s", strings.Join(words, " or "))
		}
		return text, nil
	}
}
