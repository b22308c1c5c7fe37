package deadline

import (
	"time"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/span"
)

// None is the remaining time of a call that nobody limited.
const None = span.Max

// DefaultMargin is kept back for the way back to the caller.
const DefaultMargin = 5 * time.Millisecond

// Effective returns the time that a call has when inbound came with it and the
// route promises to answer within promise (0: no promise). Negative inbound is
// nothing left.
func Effective(inbound, promise time.Duration) time.Duration {
	return shorter(max(inbound, 0), promise)
}

// Outbound returns the time that an attempt may take when limit is its own (0:
// none), remaining is left of the call's, and margin is kept back. 0 means that
// the attempt must not be made. It is never more than remaining.
func Outbound(limit, remaining, margin time.Duration) time.Duration {
	if remaining != None {
		remaining = max(span.Sub(remaining, max(margin, 0)), 0)
	}
	return shorter(remaining, limit)
}

// shorter returns the shorter of the two; a limit of 0 or less is none.
func shorter(d, limit time.Duration) time.Duration {
	if limit <= 0 {
		return d
	}
	return min(d, limit)
}

// At returns the instant at which remaining is used up; with None it never is.
func At(now policy.Instant, remaining time.Duration) policy.Instant {
	return now.Add(max(remaining, 0))
}

// Remaining returns what is left at now until the deadline: 0 from the deadline
// on, None for a deadline that never comes.
func Remaining(now, deadline policy.Instant) time.Duration {
	return max(deadline.Sub(now), 0)
}

// Divide returns the timeout of each attempt that keeps a chain within budget:
// what the gateway's own share leaves, divided by depth steps one after the
// other of that many attempts each (B1). It is 0 when the share leaves nothing.
// A depth or attempts below 1 counts as 1.
func Divide(budget, share time.Duration, depth, attempts int) time.Duration {
	left := max(span.Sub(budget, max(share, 0)), 0)
	// One after the other, so that no product can overflow; dividing twice
	// rounds down as dividing by the product does.
	return left / time.Duration(max(depth, 1)) / time.Duration(max(attempts, 1))
}
