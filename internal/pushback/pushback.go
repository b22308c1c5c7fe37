// Package pushback reads what a dependency says about when to come back:
// Retry-After and grpc-retry-pushback-ms. It serves the adapters and the
// gateway, which put the answer into policy.Report.RetryAfter.
//
// It stands outside of policy because a Retry-After may be a date, and a policy
// knows no calendar. The functions are pure all the same: they are told the
// time.
//
// What a dependency asks for is saturated and never read as a shorter wait
// (O-09): a client that wraps a long number to a negative one sends all its
// attempts at once, to a server that asked to be left alone.
package pushback

import (
	"strconv"
	"strings"
	"time"

	"github.com/kalan-go/kalan/policy/deadline"
	"github.com/kalan-go/kalan/policy/span"
)

// shortYear is the form of an HTTP-date whose year has two digits.
const shortYear = "Monday, 02-Jan-06 15:04:05 GMT"

// forms are those of an HTTP-date (RFC 9110, 5.6.7).
var forms = [...]string{
	"Mon, 02 Jan 2006 15:04:05 GMT",
	shortYear,
	"Mon Jan _2 15:04:05 2006",
}

// maxDate is longer than every date.
const maxDate = 64

// RetryAfter reads a Retry-After header (RFC 9110, 10.2.3): seconds, or a date
// whose distance from now counts; a date that is past is no wait. It reports
// false for everything else. More seconds than a Duration can hold are the
// longest duration there is.
func RetryAfter(header string, now time.Time) (time.Duration, bool) {
	header = strings.Trim(header, " \t")
	if ms, err := deadline.ParseMs(header); err == nil {
		return span.Mul(ms, int64(time.Second/time.Millisecond)), true
	}
	if len(header) > maxDate {
		return 0, false
	}
	for _, form := range forms {
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

// GRPC reads a grpc-retry-pushback-ms value (gRFC A6): whole milliseconds to
// wait before the next attempt. It reports false when the server asks for no
// further attempt, which a negative or unreadable value means too.
func GRPC(value string) (time.Duration, bool) {
	n, err := strconv.ParseInt(value, 10, 32)
	if err != nil || n < 0 || value[0] == '+' {
		return 0, false
	}
	return span.Mul(time.Millisecond, n), true
}
