package span

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Parse reads a duration as people write one in a configuration: a number and
// a unit, "250ms", "1m30s". A bare number is refused, because 600 has been
// read as 600 nanoseconds; so are an empty text, a sign, and everything else
// that is not a plain length of time. "0" and "0s" are no time at all.
func Parse(s string) (time.Duration, error) {
	switch {
	case s == "":
		return 0, errors.New(`is empty; write a number and a unit, such as "250ms"`)
	case s == "0":
		return 0, nil
	case s[0] == '-' || s[0] == '+':
		return 0, fmt.Errorf(`%q has a sign; write a plain duration, such as "5s"`, s)
	}
	d, err := time.ParseDuration(s)
	switch {
	case err == nil:
		return d, nil
	case strings.Trim(s, "0123456789.") == "":
		return 0, fmt.Errorf(`%q has no unit; write %q or %q`, s, s+"ms", s+"s")
	}
	return 0, fmt.Errorf(`%q is not a duration; write a number and one of ns, us, ms, s, m, h, such as "1m30s"`, s)
}

// A Range is a span between two durations, from which a jittered value is
// drawn. The zero value is no time at all.
type Range struct {
	Min, Max time.Duration
}

// Pick returns the duration at the fraction u of the range; u is in [0, 1).
func (r Range) Pick(u float64) time.Duration {
	return Add(r.Min, Scale(Sub(r.Max, r.Min), u))
}

// IsZero reports whether the range was left out.
func (r Range) IsZero() bool { return r == Range{} }

// String writes the range as Parse reads it, "2s-5s".
func (r Range) String() string {
	if r.Min == r.Max {
		return r.Min.String()
	}
	return r.Min.String() + "-" + r.Max.String()
}

// MarshalText writes the range as UnmarshalText reads it.
func (r Range) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads "2s-5s", or one duration for both ends.
func (r *Range) UnmarshalText(text []byte) error {
	low, high, two := strings.Cut(string(text), "-")
	if !two {
		high = low
	}
	first, err := Parse(strings.TrimSpace(low))
	if err != nil {
		return fmt.Errorf("range %q: %w", text, err)
	}
	last, err := Parse(strings.TrimSpace(high))
	if err != nil {
		return fmt.Errorf("range %q: %w", text, err)
	}
	if first > last {
		return fmt.Errorf("range %q ends before it begins; write %s-%s", text, last, first)
	}
	*r = Range{first, last}
	return nil
}
