package policy

import (
	"math"
	"time"

	"github.com/kalan-go/kalan/policy/span"
)

// An Instant is a point in time: nanoseconds since the driver started. It
// knows no calendar and no wall clock, so a clock that is set back or forward
// cannot reach a policy.
type Instant int64

// Never is later than every other instant: no deadline, no wake-up.
const Never Instant = math.MaxInt64

// Add returns t+d. It saturates at the ends of the range, and Never plus
// anything stays Never.
func (t Instant) Add(d time.Duration) Instant {
	if t == Never {
		return Never
	}
	return Instant(span.Add(time.Duration(t), d))
}

// Sub returns t-u, saturated. Never minus any other instant is the longest
// duration there is.
func (t Instant) Sub(u Instant) time.Duration {
	if t == Never && u != Never {
		return span.Max
	}
	return span.Sub(time.Duration(t), time.Duration(u))
}

// String writes the instant as the duration since the driver started.
func (t Instant) String() string {
	if t == Never {
		return "never"
	}
	return time.Duration(t).String()
}
