package budget

import (
	"math"
	"math/bits"
	"time"

	"github.com/kalan-go/kalan/policy"
)

// slices is how many parts of the window are told apart. More of them let
// calls leave the window more smoothly and cost 24 bytes each.
const slices = 32

// unit is what one extra attempt weighs in the comparison. A float would make
// 7 % of 100 calls a little more than 7, which is one retry too many.
const unit = 1_000_000_000

// A Budget counts the calls and the extra attempts of one dependency. Make
// one with New. It does no locking. A nil Budget allows everything and counts
// nothing.
type Budget struct {
	next  policy.Instant // when the next slice begins
	width time.Duration  // of a slice; 0: everything is one slice for ever
	share uint64         // ratio, in parts of unit
	floor int64
	free  bool // observing: decides and counts, and refuses nothing
	now   bool // counts what is under way, and not what was begun
	ends  kind // the least kind of which the end matters

	base  int64 // number of the slice that began at instant 0
	seq   int64 // number of the slice that is being filled
	ring  [slices + 1]slice
	total slice // sums over the ring
	old   int64 // running extra attempts whose slice has left the ring

	heard  health
	denied int64
}

// A slice is one part of the window.
type slice struct {
	calls   int64
	extra   int64 // decided here, and not undone
	running int64 // those of extra that have not ended
}

// A Mark is what one counted attempt holds of the budget. The zero Mark holds
// nothing. Undo and End clear the mark they are given, so that a second use
// changes nothing; keep one mark in one place and do not copy it.
type Mark struct {
	seq  int64
	kind kind
}

type kind uint8

const (
	nothing kind = iota
	call
	extra
)

// Held reports whether the mark still holds something.
func (m Mark) Held() bool { return m.kind != nothing }

// New returns a budget; zero fields of c mean their defaults.
func New(c Config) *Budget {
	b := &Budget{}
	b.rule(c.WithDefaults())
	b.start()
	return b
}

func (b *Budget) rule(c Config) {
	b.share, b.floor, b.free, b.now = parts(c.Ratio), int64(max(c.Floor, 0)), c.Observe, c.InFlight
	if b.ends = extra; b.now {
		b.ends = call // a window remembers a first attempt, which holds nothing
	}
	if b.width = 0; c.Window > 0 && !b.now {
		b.width = max(c.Window/slices, 1)
	}
}

// parts returns the ratio in parts of unit. Ratios that Validate refuses allow
// nothing beyond the floor, or a thousand million extra attempts a call.
func parts(ratio float64) uint64 {
	if !(ratio > 0) {
		return 0
	}
	return uint64(math.Round(min(ratio, unit) * unit))
}

// Call counts a first attempt, which is always allowed.
func (b *Budget) Call(now policy.Instant) Mark {
	if b == nil {
		return Mark{}
	}
	b.advance(now)
	b.current().calls++
	b.total.calls++
	return Mark{b.seq, call}
}

// Retry reports whether one more attempt, a retry or a hedge, may be made, and
// takes it from the budget in the same step. Ask when it is decided that there
// is to be one, before any backoff.
func (b *Budget) Retry(now policy.Instant) (Mark, bool) {
	if b == nil {
		return Mark{}, true
	}
	b.advance(now)
	if !b.allows() {
		b.denied++
		if !b.free {
			return Mark{}, false
		}
	}
	b.add(b.seq, 1, 1)
	return Mark{b.seq, extra}, true
}

// Undo gives back what the mark holds: the attempt was decided, but never
// launched. It is as if it had never been asked for.
func (b *Budget) Undo(now policy.Instant, m *Mark) {
	was := *m
	*m = Mark{}
	if b != nil {
		b.advance(now)
		b.takeBack(was)
	}
}

// takeBack lets it be as if the attempt had never been counted.
func (b *Budget) takeBack(was Mark) {
	switch {
	case was.kind == extra && was.seq > b.seq:
		// From another budget: there is no such slice here.
	case was.kind == extra:
		b.add(was.seq, -1, -1)
	case was.kind == call && b.holds(was.seq):
		s := b.at(was.seq)
		if s.calls > 0 {
			s.calls--
			b.total.calls--
		}
	}
}

// End says that the attempt that holds the mark has ended, whatever its
// outcome. Extra attempts stay in the window that they were decided in; one
// that outlived the window leaves the count now. Of what is counted while it is
// under way every attempt leaves.
func (b *Budget) End(now policy.Instant, m *Mark) {
	if b != nil && m.kind >= b.ends {
		b.end(now, *m)
	}
	*m = Mark{}
}

func (b *Budget) end(now policy.Instant, was Mark) {
	b.advance(now)
	switch {
	case b.now:
		b.takeBack(was)
	case was.seq <= b.seq:
		b.add(was.seq, 0, -1)
	}
}

// Heard tells the budget how an attempt ended, first or extra. The floor
// exists only while at least half of the last ten succeeded. Attempts that say
// nothing about the dependency (ignored, cut) are not told.
func (b *Budget) Heard(success bool) {
	if b != nil {
		b.heard.add(success)
	}
}

// allows applies the rule of the package comment, in whole numbers.
func (b *Budget) allows() bool {
	used := b.used() - b.floorNow()
	if used < 0 {
		return true
	}
	usedHigh, usedLow := bits.Mul64(uint64(used), unit)
	high, low := bits.Mul64(b.share, uint64(b.basis()))
	return usedHigh < high || usedHigh == high && usedLow < low
}

func (b *Budget) used() int64 { return b.total.extra + b.old }

// basis is what the ratio is a part of. Of what is under way an extra attempt is
// one as well: it stands for the call that it was decided for, whose first
// attempt has ended (O-13).
func (b *Budget) basis() int64 {
	if b.now {
		return b.total.calls + b.used()
	}
	return b.total.calls
}

func (b *Budget) floorNow() int64 {
	if b.heard.good() {
		return b.floor
	}
	return 0
}

// left is how many times in a row allows would say yes.
func (b *Budget) left() int64 {
	high, low := bits.Mul64(b.share, uint64(b.total.calls))
	if b.now {
		return b.leftNow(high, low)
	}
	if high >= unit {
		return math.MaxInt64
	}
	whole, rest := bits.Div64(high, low, unit)
	if rest > 0 {
		whole++
	}
	floor := b.floorNow()
	if whole > uint64(math.MaxInt64-floor) {
		return math.MaxInt64
	}
	return max(int64(whole)+floor-b.used(), 0)
}

// leftNow is left where each extra attempt adds to what it is a part of: the least
// k for which used + k is no longer below ratio x (calls + used + k) + floor.
func (b *Budget) leftNow(high, low uint64) int64 {
	floorHigh, floorLow := bits.Mul64(uint64(b.floorNow()), unit)
	low, carry := bits.Add64(low, floorLow, 0)
	high += floorHigh + carry
	switch {
	case high == 0 && low == 0 && (b.share <= unit || b.used() == 0):
		return 0
	case b.share >= unit || high >= unit-b.share:
		return math.MaxInt64
	}
	whole, rest := bits.Div64(high, low, unit-b.share)
	if rest > 0 {
		whole++
	}
	if whole > math.MaxInt64 {
		return math.MaxInt64
	}
	return max(int64(whole)-b.used(), 0)
}
