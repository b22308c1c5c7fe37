package budget

import (
	"time"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/span"
)

// advance moves the window to now. Time that runs backwards is nothing elapsed.
// It is small enough to be inlined: nearly every verb falls into the slice that
// the one before fell into.
func (b *Budget) advance(now policy.Instant) {
	if now >= b.next {
		b.roll(now)
	}
}

// roll begins the slice that now falls into and forgets those that have left
// the window by then.
func (b *Budget) roll(now policy.Instant) {
	if b.width == 0 {
		return
	}
	seq := b.base + int64(time.Duration(now)/b.width)
	for left := min(seq-b.seq, int64(len(b.ring))); left > 0; left-- {
		b.seq++
		b.forget(b.current())
	}
	b.seq = seq
	b.start()
}

// start finds out when the next slice begins.
func (b *Budget) start() {
	if b.next = policy.Never; b.width > 0 {
		b.next = policy.Instant(span.Mul(b.width, b.seq-b.base)).Add(b.width)
	}
}

// Configure changes the configuration and keeps what was counted: what the old
// window held is taken for as new as can be, and what is out goes on counting
// until it ends.
func (b *Budget) Configure(now policy.Instant, c Config) {
	b.advance(now)
	width, was := b.width, b.now
	if b.rule(c.WithDefaults()); b.width == width && b.now == was {
		return
	}
	kept := slice{calls: b.total.calls, extra: b.total.extra - b.total.running}
	if b.now { // of first attempts a window does not know which run
		kept = slice{}
	}
	b.old += b.total.running
	b.ring, b.total = [slices + 1]slice{}, kept
	b.seq += int64(len(b.ring)) + 1 // out of reach of the marks that are out
	if b.base = b.seq; b.width > 0 {
		b.base -= int64(time.Duration(now) / b.width)
	}
	*b.current() = kept
	b.start()
}

// forget empties the slice that has left the window. Its attempts that are
// still running go on counting, one by one, until they end.
func (b *Budget) forget(s *slice) {
	b.old += s.running
	b.total.calls -= s.calls
	b.total.extra -= s.extra
	b.total.running -= s.running
	*s = slice{}
}

// add changes the extra attempts of the slice seq, or of what is left of it.
// It never takes away what is not there: a mark that somebody copied must not
// drive a count below zero.
func (b *Budget) add(seq, extra, running int64) {
	if !b.holds(seq) {
		b.old = max(b.old+running, 0)
		return
	}
	s := b.at(seq)
	if s.extra+extra < 0 || s.running+running < 0 {
		return
	}
	s.extra += extra
	s.running += running
	b.total.extra += extra
	b.total.running += running
}

// holds reports whether the slice seq is still in the ring.
func (b *Budget) holds(seq int64) bool {
	return seq >= 0 && seq <= b.seq && b.seq-seq < int64(len(b.ring))
}

func (b *Budget) at(seq int64) *slice { return &b.ring[seq%int64(len(b.ring))] }

func (b *Budget) current() *slice { return b.at(b.seq) }
