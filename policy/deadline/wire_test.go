package deadline_test

import (
	"testing"
	"time"

	"github.com/kalan-go/kalan/policy/deadline"
)

const ms = time.Millisecond

// O-10, the parsing half.
func TestParseGRPC(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"99999999H": deadline.None, "1H": time.Hour, "250m": 250 * ms, "0S": 0, "1n": 1, "7u": 7 * time.Microsecond,
		"2M": 2 * time.Minute, "00000001S": time.Second, "99999999S": 99999999 * time.Second,
	} {
		if got, err := deadline.ParseGRPC(text); err != nil || got != want {
			t.Errorf("%q: %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"100000000S", "", "10", "S", "-5S", "+5S", "1.5S", "5s", " 5S", "5S ", "5", "0x5S", "٣S", "5h"} {
		if got, err := deadline.ParseGRPC(text); err == nil {
			t.Errorf("%q: %v, want an error", text, got)
		}
	}
}

func TestParse(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"0": 0, "450": 450 * ms, "00450": 450 * ms, "9223372036854": 9223372036854 * ms,
		"9223372036855": deadline.None, "9223372036854775808": deadline.None, "999999999999999999999999999999": deadline.None,
	} {
		if got, err := deadline.ParseMs(text); err != nil || got != want {
			t.Errorf("%q: %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "-1", "+1", "1.5", " 1", "1 ", "0x10", "1e3", "ms", "450ms", "٣", "1,000", "1_000"} {
		if got, err := deadline.ParseMs(text); err == nil {
			t.Errorf("%q: %v, want an error", text, got)
		}
	}
}
