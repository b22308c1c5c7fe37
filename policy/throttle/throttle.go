package throttle

import (
	"time"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/span"
)

// Levels is the number of levels of importance that are counted apart. Larger
// levels count as the last one.
const Levels = 8

// A Throttle decides which requests are sent to one dependency. Make one with
// New. It does no locking. Most callers use Admit before a request and Settle
// after it.
type Throttle struct {
	k, floor float64
	observe  bool
	refused  uint64
	window   window
}

// A Mark is what one admitted request may still say. The zero Mark says nothing.
// Undo and Settle clear the mark they are given, so that a second use changes
// nothing; keep one mark in one place and do not copy it.
type Mark struct {
	level uint8 // one more than the level's number; 0: nothing
}

// Held reports whether the mark may still say something.
func (m Mark) Held() bool { return m.level > 0 }

// New returns a throttle that has seen nothing; zero fields of c mean their
// defaults.
func New(c Config) *Throttle {
	c = c.WithDefaults()
	t := &Throttle{window: newWindow(c.Window)}
	t.rule(c)
	return t
}

// rule takes the figures over. A K that Validate refuses refuses next to nothing.
func (t *Throttle) rule(c Config) {
	t.k, t.floor, t.observe = mostK, float64(max(c.Floor, 0)), c.Observe
	if c.K > 1 {
		t.k = min(c.K, mostK)
	}
}

// Admit reports whether a request of that level may be sent, by a lot that the
// seed draws: the request's own, so that neither one that is undone nor the order
// of those that come together changes what becomes of the others. One that is refused
// here was asked for all the same, and is counted as not accepted: a share of what
// was sent alone would forget half of the refusals as soon as it made them. An
// observer sends everything, and counts what becomes of it.
func (t *Throttle) Admit(now policy.Instant, level uint8, seed uint64) (Mark, bool) {
	level = min(level, Levels-1)
	t.window.see(now)
	if over, of := t.over(level); over > 0 && policy.Draw(seed)*of < over {
		t.refused++
		if !t.observe {
			t.window.add(level, 0)
			return Mark{}, false
		}
	}
	return Mark{level + 1}, true
}

// over returns the two sides of the package comment's fraction: how many requests
// of that level are too many, below zero for none, and of how many.
func (t *Throttle) over(level uint8) (over, of float64) {
	sum := &t.window.total[level]
	requests := float64(sum.requests)
	return requests - t.floor - t.k*float64(sum.accepts), requests + 1
}

// share is the probability with which a request of that level is refused.
func (t *Throttle) share(level uint8) float64 {
	over, of := t.over(level)
	return max(over/of, 0)
}

// Undo gives back a request that was admitted and not sent, as if it had never
// been.
func (t *Throttle) Undo(_ policy.Instant, m *Mark) { *m = Mark{} }

// Settle tells how a request ended, and whether the dependency said that it had
// no room for it.
func (t *Throttle) Settle(now policy.Instant, m *Mark, o policy.Outcome, refused bool) {
	was := *m
	*m = Mark{}
	if !was.Held() || o == policy.Cut && !refused {
		return
	}
	t.window.see(now)
	accepted := uint64(0)
	if o != policy.Failure && !refused {
		accepted = 1
	}
	t.window.add(was.level-1, accepted)
}

// RetryAfter returns how long a refused request of that level should stay away:
// as much of the window as is refused of its requests, since that much has to be
// forgotten, and by draw, from [0, 1), down to half of it, so that those who were
// refused together do not come together. It is never 0.
func (t *Throttle) RetryAfter(now policy.Instant, level uint8, draw float64) time.Duration {
	t.window.see(now)
	most := span.Scale(t.window.length(), max(t.share(min(level, Levels-1)), 2./slices))
	return span.Range{Min: most / 2, Max: most}.Pick(draw)
}

// Forget drops what was counted: the owner knows that it says nothing any more.
func (t *Throttle) Forget() { t.window.total, t.window.ring = [Levels]tally{}, [slices][Levels]tally{} }

// Configure changes the configuration and keeps what was counted: what another
// window held is taken for as new as can be.
func (t *Throttle) Configure(now policy.Instant, c Config) {
	c = c.WithDefaults()
	t.window.see(now)
	if w := newWindow(c.Window); w.width != t.window.width {
		w.inherit(now, t.window.total)
		t.window = w
	}
	t.rule(c)
}
