package throttle

import (
	"time"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/span"
)

// slices is how many parts of the window are told apart. More of them let
// requests leave the window more smoothly and cost 128 bytes each.
const slices = 16

// A tally counts the requests of one level whose end is known, and those of them
// that were accepted.
type tally struct{ requests, accepts uint64 }

func (t *tally) add(accepted uint64) {
	t.requests++
	t.accepts += accepted
}

// A window counts the requests of the last while, by level. It keeps totals, so
// that a share costs no walk.
type window struct {
	end   policy.Instant // of the slice that is being filled
	width time.Duration  // of a slice
	at    int            // the slice that is being filled
	total [Levels]tally
	ring  [slices][Levels]tally
}

func newWindow(d time.Duration) window {
	width := max(d, 1)
	width = (width-1)/slices + 1
	return window{width: width, end: policy.Instant(width)}
}

func (w *window) length() time.Duration { return span.Mul(w.width, slices) }

func (w *window) add(level uint8, accepted uint64) {
	w.total[level].add(accepted)
	w.ring[w.at][level].add(accepted)
}

// see moves the window to now. It is small enough to be inlined: nearly every
// verb falls into the slice that the one before fell into.
func (w *window) see(now policy.Instant) {
	if now >= w.end {
		w.roll(now)
	}
}

// roll begins the slice that now lies in, and forgets those that have left the
// window by then.
func (w *window) roll(now policy.Instant) {
	began := now.Sub(w.end)
	for range min(began/w.width+1, slices) {
		w.at = (w.at + 1) % slices
		for level, old := range w.ring[w.at] {
			w.total[level].requests -= old.requests
			w.total[level].accepts -= old.accepts
		}
		w.ring[w.at] = [Levels]tally{}
	}
	w.end = now.Add(w.width - began%w.width)
}

// inherit takes what another window held for as new as can be.
func (w *window) inherit(now policy.Instant, total [Levels]tally) {
	w.see(now)
	w.total, w.ring[w.at] = total, total
}
