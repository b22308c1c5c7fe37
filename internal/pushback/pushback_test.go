package pushback_test

import (
	"strings"
	"testing"
	"time"

	"github.com/kalan-go/kalan/internal/pushback"
	"github.com/kalan-go/kalan/policy/span"
)

var now = time.Date(2026, time.March, 14, 9, 0, 0, 0, time.UTC)

// O-09 and RFC 9110, 10.2.3.
func TestRetryAfter(t *testing.T) {
	for header, want := range map[string]time.Duration{
		"0": 0, "120": 2 * time.Minute, " 5 ": 5 * time.Second,
		"9223372036": 9223372036 * time.Second, "9223372037": span.Max, "9223372036854775807": span.Max,
		strings.Repeat("9", 30): span.Max, strings.Repeat("9", 3000): span.Max,
		"Sat, 14 Mar 2026 09:00:30 GMT":    30 * time.Second,
		"Saturday, 14-Mar-26 09:01:00 GMT": time.Minute,
		"Sat Mar 14 10:00:00 2026":         time.Hour,
		"Sat, 14 Mar 2026 08:59:59 GMT":    0, // past
		"Sat, 14 Mar 2026 09:00:00 GMT":    0,
		"Friday, 14-Mar-80 09:00:00 GMT":   0, // two digits, more than 50 years ahead: 1980
		"Fri, 31 Dec 9999 23:59:59 GMT":    span.Max,
	} {
		if got, ok := pushback.RetryAfter(header, now); !ok || got != want {
			t.Errorf("%.60q: %v, %v; want %v", header, got, ok, want)
		}
	}
	for _, header := range []string{
		"", " ", "-5", "+5", "1.5", "5s", "0x5", "soon", "٣", "5, 6", "Sat, 14 Mar 2026 09:00:30 CET",
		"14 Mar 2026 09:00:30 GMT", "Sat, 32 Mar 2026 09:00:30 GMT", strings.Repeat("x", 1<<16),
	} {
		if got, ok := pushback.RetryAfter(header, now); ok {
			t.Errorf("%.60q: %v, want it refused", header, got)
		}
	}
}

func TestDateIsReadFromAnyZone(t *testing.T) {
	there := now.In(time.FixedZone("somewhere", 3*60*60))
	if got, ok := pushback.RetryAfter("Sat, 14 Mar 2026 09:00:30 GMT", there); !ok || got != 30*time.Second {
		t.Errorf("%v, %v; want 30s", got, ok)
	}
}

// Two digits of a year that would be more than 50 years ahead are past.
func TestShortYear(t *testing.T) {
	in2010 := time.Date(2010, time.March, 14, 9, 0, 0, 0, time.UTC)
	for header, want := range map[string]bool{"Sunday, 14-Mar-60 09:00:00 GMT": true, "Wednesday, 14-Mar-68 09:00:00 GMT": false} {
		if got, ok := pushback.RetryAfter(header, in2010); !ok || got > 0 != want {
			t.Errorf("%q in 2010: %v, %v; want a wait: %v", header, got, ok, want)
		}
	}
}

// gRFC A6: negative and unreadable both mean: do not come back.
func TestGRPC(t *testing.T) {
	for value, want := range map[string]time.Duration{"0": 0, "25": 25 * time.Millisecond, "2147483647": 2147483647 * time.Millisecond} {
		if got, ok := pushback.GRPC(value); !ok || got != want {
			t.Errorf("%q: %v, %v; want %v", value, got, ok, want)
		}
	}
	for _, value := range []string{"", "-1", "+5", "2147483648", "1.5", "5ms", " 5"} {
		if got, ok := pushback.GRPC(value); ok {
			t.Errorf("%q: %v, want: do not retry", value, got)
		}
	}
}

func FuzzRetryAfter(f *testing.F) {
	for _, seed := range []string{"0", "120", "9223372037", "Sat, 14 Mar 2026 09:00:30 GMT", "Saturday, 14-Mar-26 09:01:00 GMT", "-1", ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		if d, ok := pushback.RetryAfter(header, now); d < 0 || !ok && d != 0 {
			t.Errorf("%q: %v, %v", header, d, ok)
		}
		if d, ok := pushback.GRPC(header); d < 0 || !ok && d != 0 {
			t.Errorf("%q: %v, %v", header, d, ok)
		}
	})
}
