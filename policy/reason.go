package policy

import "fmt"

// A Reason says why work was refused or ended. It is an error, a metric label
// and a problem type in one: the list is closed, so each of the three is
// bounded.
//
//	if errors.Is(err, policy.Open) { ... }
type Reason uint8

const (
	// None is the zero value: nothing was refused.
	None Reason = iota
	// Open: the breaker is open, or half-open with every probe out.
	Open
	// Throttled: the dependency refuses a share of what it is sent, and this is
	// part of the share that is not sent.
	Throttled
	// Rate: the caller, or everyone together, sent more than the rate allows.
	Rate
	// Full: no slot, and no place to wait for one.
	Full
	// Waited: a slot did not come free within the checkout time.
	Waited
	// Shed: the queue has been too slow for too long, and this request was not
	// important enough.
	Shed
	// Budget: the retry budget is used up. Never an answer by itself: the
	// caller gets the last attempt's error.
	Budget
	// Timeout: the attempt's own time limit passed.
	Timeout
	// Expired: the caller's remaining time is used up, or too short for what
	// would have to be done.
	Expired
	// Gone: the caller cancelled.
	Gone
	// Spent: every attempt was made. Never an answer by itself: the caller
	// gets the last attempt's error.
	Spent

	// Reasons is the number of reasons, for arrays indexed by Reason.
	Reasons = int(Spent) + 1
)

var reasons = [Reasons]struct{ label, text string }{
	None:      {"none", "not refused"},
	Open:      {"open", "circuit breaker is open"},
	Throttled: {"throttled", "throttled while too few calls are accepted"},
	Rate:      {"rate", "rate limit exceeded"},
	Full:      {"full", "all slots and waiting places are taken"},
	Waited:    {"waited", "no slot came free in time"},
	Shed:      {"shed", "shed under overload"},
	Budget:    {"budget", "retry budget is used up"},
	Timeout:   {"timeout", "attempt timed out"},
	Expired:   {"expired", "remaining time is too short"},
	Gone:      {"gone", "caller is gone"},
	Spent:     {"spent", "every attempt was made"},
}

// String returns the reason's label: one lower-case word, as it appears in
// metrics, problem types and scenario files.
func (r Reason) String() string {
	if int(r) < Reasons {
		return reasons[r].label
	}
	return fmt.Sprintf("reason(%d)", uint8(r))
}

// Error returns what happened, in words.
func (r Reason) Error() string {
	if int(r) < Reasons {
		return reasons[r].text
	}
	return r.String()
}
