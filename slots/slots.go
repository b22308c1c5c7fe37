// Package slots is a fixed limit by itself: so many calls at once, and the next
// is refused (F15). It is for whoever needs only that: a cap on what is rendered
// at the same time, on streams that are open, on requests for one customer.
//
// It counts, and does nothing else: nobody waits for a slot, nothing is
// measured, and how a call ended is nobody's business. Where calls go to a
// dependency, a [kalan.Guard] with limit.Fixed is better: there a call may wait
// for a moment, and the latency that is seen beside the number says when the
// number is too high (F17).
//
// # How it decides
//
// A slot is there while fewer are taken than there may be, and taking it is the
// same step as seeing it, so that there are never more, however many ask at
// once. The count is one word: no lock, no clock and no allocation. Package
// policy/limit, which a guard uses, is a machine that is told the time and
// needs its driver's lock; a count alone needs neither.
//
// # Limits
//
// It is a limit of this process, and not fair: whoever asks when a slot comes
// free gets it. A slot that is never given back is lost; [Do] gives it back
// also when the function panics.
package slots

import (
	"sync/atomic"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/internal/field"
	"github.com/kalan-go/kalan/policy"
)

// Config describes a limit. The zero value means the documented defaults.
type Config struct {
	// Name appears in errors.
	Name string `yaml:"name"`
	// Max is how many slots there are. 0 is 25 (F15). Raising it lets more run
	// at once.
	Max int `yaml:"max"`
	// Observe counts what would be refused, and refuses nothing: for seeing
	// what a limit would do before it does.
	Observe bool `yaml:"observe"`
}

// most bounds the number, so that no count overflows.
const most = 1 << 30

// WithDefaults returns c with what was left out filled in.
func (c Config) WithDefaults() Config {
	field.Default(&c.Max, 25)
	return c
}

// Validate returns everything that is wrong with c.
func (c Config) Validate() policy.Problems {
	var check field.Check
	check.Count("max", c.WithDefaults().Max, most)
	return check.Problems()
}

// Slots are a number of slots. They are made by New and safe for concurrent
// use. Most callers use Do, and Take where what holds the slot is no function.
type Slots struct {
	taken   atomic.Int64
	max     atomic.Int64
	observe atomic.Bool
	refused atomic.Uint64
	name    string
}

// A Token is one slot that was taken. The zero Token holds nothing, and one
// that was given back is zero again, so that giving it back twice changes
// nothing; keep one token in one place and do not copy it.
type Token struct{ from *Slots }

// New returns slots that are all free, or everything that is wrong with c.
func New(c Config) (*Slots, error) {
	s := &Slots{name: c.Name}
	if err := s.Configure(c); err != nil {
		return nil, err
	}
	return s, nil
}

// Configure changes the number and whether it is enforced. Slots that are taken
// stay taken, also when there are more of them than there are to be.
func (s *Slots) Configure(c Config) error {
	if err := field.Error("slots", s.name, c.Validate()); err != nil {
		return err
	}
	s.max.Store(int64(c.WithDefaults().Max))
	s.observe.Store(c.Observe)
	return nil
}

// Take takes a slot, and reports whether there was one. Give it back with
// Token.Give.
func (s *Slots) Take() (Token, bool) {
	for n := s.taken.Load(); n < s.max.Load(); n = s.taken.Load() {
		if s.taken.CompareAndSwap(n, n+1) {
			return Token{s}, true
		}
	}
	return s.full()
}

// full counts a call for which there is no slot.
func (s *Slots) full() (Token, bool) {
	s.refused.Add(1)
	if !s.observe.Load() {
		return Token{}, false
	}
	s.taken.Add(1)
	return Token{s}, true
}

// Give gives the slot back.
func (t *Token) Give() {
	if s := t.from; s != nil {
		t.from = nil
		s.taken.Add(-1)
	}
}

// Do runs fn in a slot and returns what it returns, or a [*kalan.Rejection] for
// policy.Full when there is none. The slot comes free when fn has ended, also
// by a panic or a Goexit, which reach the caller.
func Do[T any](s *Slots, fn func() (T, error)) (T, error) {
	t, ok := s.Take()
	if !ok {
		var none T
		return none, &kalan.Rejection{Guard: s.name, Reason: policy.Full}
	}
	defer t.Give()
	return fn()
}

// A Snapshot is how the slots stand at one moment.
type Snapshot struct {
	// Max is how many there are, and Taken how many of them are taken.
	Max, Taken int
	// Refused counts the calls for which there was none; with Observe those
	// that ran all the same.
	Refused uint64
}

// Snapshot returns how the slots stand. It changes nothing.
func (s *Slots) Snapshot() Snapshot {
	return Snapshot{Max: int(s.max.Load()), Taken: int(s.taken.Load()), Refused: s.refused.Load()}
}
