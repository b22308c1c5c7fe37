package policy

import "time"

// A Kind says what an Event tells of.
type Kind uint8

const (
	// Started: a call's first attempt got its slot; Count is 1.
	Started Kind = iota + 1
	// Refused: a call was refused or ended without an answer; Reason says why.
	Refused
	// Settled: an attempt was judged; Outcome says how, Took how long it ran.
	Settled
	// Retried: an attempt that is not its call's first got its slot, for a retry
	// or a hedge; Count is its number within the call.
	Retried
	// Moved: the breaker changed its state; Count is the new state.
	Moved
	// Resized: the limit moved; Count is the new number of slots. It is told at
	// most ten times a second.
	Resized
)

// String returns the kind's name as it is written in logs and metrics.
func (k Kind) String() string {
	switch k {
	case Started:
		return "started"
	case Refused:
		return "refused"
	case Settled:
		return "settled"
	case Retried:
		return "retried"
	case Moved:
		return "moved"
	case Resized:
		return "resized"
	}
	return "invalid"
}

// An Event is one decision, as a value of 32 bytes: it compares, prints and
// replays, and keeping a thousand of them costs one slice. Which fields say
// something depends on the [Kind]; the others are zero.
type Event struct {
	At      Instant // on the driver's clock
	Took    time.Duration
	Count   int64
	Kind    Kind
	Reason  Reason
	Outcome Outcome
}
