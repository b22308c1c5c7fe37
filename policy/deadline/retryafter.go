package deadline

import (
	"strconv"
	"strings"
	"time"

	"github.com/kalan-go/kalan/policy/span"
)

// dates are the three forms of an HTTP-date (RFC 9110, 5.6.7).
var dates = [...]string{
	"Mon, 02 Jan 2006 15:04:05 GMT",
	shortYear,
	"Mon Jan _2 15:04:05 2006",
}

const (
	shortYear = "Monday, 02-Jan-06 15:04:05 GMT"
	// maxDate is longer than every date.
	maxDate = 64
)

// RetryAfter reads a Retry-After header (RFC 9110, 10.2.3): seconds, or a date
// whose distance from now counts; a date that is past is no wait. It reports
// false for everything else. A number of seconds that no Duration can hold is
// the longest duration there is, never a short or negative one (O-09).
func RetryAfter(header string, now time.Time) (time.Duration, bool) {
	header = strings.Trim(header, " \t")
	if n, ok := number(header); ok {
		return span.Mul(time.Second, n), true
	}
	if len(header) > maxDate {
		return 0, false
	}
	for _, form := range dates {
		if t, err := time.Parse(form, header); err == nil {
			return max(century(t, form, now).Sub(now), 0), true
		}
	}
	return 0, false
}

// century corrects a year of two digits: a date that would be more than 50
// years ahead is meant to be past (RFC 9110, 5.6.7).
func century(t time.Time, form string, now time.Time) time.Time {
	if form == shortYear && t.After(now.AddDate(50, 0, 0)) {
		return t.AddDate(-100, 0, 0)
	}
	return t
}

// Pushback reads a grpc-retry-pushback-ms value (gRFC A6): whole milliseconds
// to wait before the next attempt. It reports false when the server asks for no
// further attempt, which a negative or unreadable value means too.
func Pushback(value string) (time.Duration, bool) {
	n, err := strconv.ParseInt(value, 10, 32)
	if err != nil || n < 0 || value[0] == '+' {
		return 0, false
	}
	return span.Mul(time.Millisecond, n), true
}
