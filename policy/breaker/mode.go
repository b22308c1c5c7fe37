package breaker

import (
	"fmt"

	"github.com/kalan-go/kalan/policy"
)

// A State is what a breaker does with calls.
type State uint8

const (
	// Closed: calls pass. The zero value.
	Closed State = iota
	// Open: calls are refused.
	Open
	// HalfOpen: a few calls pass, to find out whether to close.
	HalfOpen
)

// String returns the state's label: one word, as in metrics and scenarios.
func (s State) String() string {
	switch s {
	case Closed:
		return "closed"
	case Open:
		return "open"
	case HalfOpen:
		return "half-open"
	}
	return fmt.Sprintf("state(%d)", uint8(s))
}

// A Mode lets a breaker decide for itself, or overrules it.
type Mode uint8

const (
	// Auto: the breaker decides. The zero value.
	Auto Mode = iota
	// ForcedOpen refuses every call. When it ends the breaker is half-open:
	// what was cut off on purpose is probed before it gets everything again.
	ForcedOpen
	// ForcedClosed lets every call pass and goes on counting. When it ends,
	// the counts are there to judge by.
	ForcedClosed
	// Disabled lets every call pass and counts nothing.
	Disabled
	// Observe decides and counts as Auto does, and refuses nothing: Refused
	// counts what it would have refused, and those calls change nothing else.
	Observe
)

var modes = [...]string{"auto", "open", "closed", "disabled", "observe"}

// String returns the mode as the configuration writes it.
func (m Mode) String() string {
	if int(m) < len(modes) {
		return modes[m]
	}
	return fmt.Sprintf("mode(%d)", uint8(m))
}

// MarshalText writes the mode as UnmarshalText reads it.
func (m Mode) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText reads "auto", "open", "closed", "disabled" or "observe".
func (m *Mode) UnmarshalText(text []byte) error {
	for i, name := range modes {
		if string(text) == name {
			*m = Mode(i)
			return nil
		}
	}
	return fmt.Errorf("%q is no breaker mode; write auto, open, closed, disabled or observe", text)
}

// SetMode changes the mode while running. What was admitted before goes on
// counting, unless the state changes with the mode.
func (b *Breaker) SetMode(now policy.Instant, m Mode) {
	now = b.seen(now)
	was := b.mode
	b.mode = m
	switch {
	case m == was:
	case m == ForcedOpen:
		b.enter(Open, now, policy.Never)
	case m == Disabled, m == ForcedClosed && b.state != Closed:
		b.close(now, 0)
	case m == ForcedClosed:
		b.due = policy.Never // no ramp either
	case was == ForcedOpen:
		b.delay = 0 // the next open time is the first
		b.enter(HalfOpen, now, policy.Never)
	}
}
