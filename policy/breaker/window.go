package breaker

import (
	"time"

	"github.com/kalan-go/kalan/policy"
)

// A kind says in which columns of a tally a call counts.
type kind uint8

const (
	good   kind = 0
	failed kind = 1
	slow   kind = 2
)

// A tally counts calls, each at most once in each column.
type tally struct {
	calls, failed, slow, bad uint32
}

func (t *tally) add(k kind) {
	t.calls++
	if k != good {
		t.failed += uint32(k & failed)
		t.slow += uint32(k&slow) >> 1
		t.bad++
	}
}

func (t *tally) sub(u tally) {
	t.calls -= u.calls
	t.failed -= u.failed
	t.slow -= u.slow
	t.bad -= u.bad
}

func (t *tally) join(u tally) {
	t.calls += u.calls
	t.failed += u.failed
	t.slow += u.slow
	t.bad += u.bad
}

// share returns n of all. It divides rather than multiplies the rate, so that
// 3 of 30 reaches a rate of .1 exactly.
func share(n, all uint32) float64 { return float64(n) / float64(all) }

// buckets is how many pieces a time window is counted in: what it holds is
// between 29/30 of the window and all of it.
const buckets = 30

// A window counts the calls of the last while, or the last so many calls. It
// keeps totals, so that a rate costs no walk.
type window struct {
	total tally

	edge  policy.Instant // where the current bucket ends
	width time.Duration
	at    int
	ring  [buckets]tally

	last []kind // the count window; nil: the time window
	next int
	full bool
}

func newWindow(r *rules) window {
	if r.Count > 0 {
		return window{last: make([]kind, r.Count)}
	}
	width := (r.Window-1)/buckets + 1
	return window{width: width, edge: policy.Instant(width)}
}

func (w *window) add(now policy.Instant, k kind) {
	if w.last != nil {
		w.push(k)
		return
	}
	if now >= w.edge {
		w.advance(now)
	}
	w.ring[w.at].add(k)
	w.total.add(k)
}

// advance moves the current bucket to the one that now lies in.
func (w *window) advance(now policy.Instant) {
	late := now.Sub(w.edge)
	for range min(int64(late/w.width)+1, buckets) {
		w.at = (w.at + 1) % buckets
		w.total.sub(w.ring[w.at])
		w.ring[w.at] = tally{}
	}
	w.edge = now.Add(w.width - late%w.width)
}

func (w *window) push(k kind) {
	if w.full {
		var oldest tally
		oldest.add(w.last[w.next])
		w.total.sub(oldest)
	}
	w.last[w.next] = k
	w.total.add(k)
	if w.next++; w.next == len(w.last) {
		w.next, w.full = 0, true
	}
}

// clear forgets every call.
func (w *window) clear() {
	w.total, w.ring = tally{}, [buckets]tally{}
	w.next, w.full = 0, false
}

// see drops what has become too old by now.
func (w *window) see(now policy.Instant) {
	if w.last == nil && now >= w.edge {
		w.advance(now)
	}
}
