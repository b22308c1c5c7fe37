package room

import (
	"time"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/span"
)

const (
	// tooLong is the part of what the oldest waiter could wait above which the
	// room is too slow.
	tooLong = 0.75
	// calm is the part of that below which the room is out of overload again.
	calm = 0.5
)

// A watch says whether the room is too slow, and whether it is in overload.
// Between two events the oldest waiter only grows older, so it is enough to
// look when something happens, and to know when it must have passed a mark.
type watch struct {
	looked   policy.Instant
	fast     policy.Instant // last instant at which the oldest was below the mark
	restless policy.Instant // last instant at which it was not calm
	overload bool
}

// slow reports whether the room has been too slow for a whole window (F12).
// The minimum over a window is above the mark if the room was never below it.
func (w *watch) slow(now policy.Instant, window time.Duration) bool {
	return now.Sub(w.fast) >= window
}

// lose is told of a waiter whose time was up before it got a slot. That
// declares overload: in their order not everybody can be served.
func (w *watch) lose(now policy.Instant) { w.overload, w.restless = true, now }

// look brings the watch up to now. It is called before and after everything
// that may change who is oldest.
func (r *Room) look(now policy.Instant) {
	w := &r.watch
	if r.age.head < 0 {
		w.fast = now
	} else {
		oldest := &r.waiters[r.age.head]
		mark := r.mark(oldest)
		if passed := oldest.since.Add(mark); passed >= w.looked {
			w.fast = min(now, passed)
		}
		if now > oldest.since.Add(span.Scale(mark, calm)) {
			w.restless = now
		}
	}
	w.looked = now
	if now.Sub(w.restless) >= r.config.Window {
		w.overload = false
	}
}

// mark returns the age at which w is a sign of a room that is too slow.
func (r *Room) mark(w *waiter) time.Duration {
	if r.config.Target > 0 {
		return r.config.Target
	}
	could := w.item.could(w.since)
	if r.config.Checkout > 0 {
		could = min(could, r.config.Checkout)
	}
	if rate := r.drain.rate; rate > 0 {
		could = min(could, span.Scale(time.Second, float64(r.config.Waiting)/rate))
	}
	if could == span.Max {
		return could
	}
	return span.Scale(could, tooLong)
}

// sheds reports whether item is to be refused because the room is too slow:
// not when it is critical, and not when it is no burden. A burden can wait as
// long as it takes to make the room too slow, and its flow would have at least
// its part of those who wait: the few calls of a quiet tenant and those of
// hasty callers are not what the oldest waiter waits for. An oldest whose end
// has passed says nothing: it was the process that stood still (F23, O-19).
func (r *Room) sheds(now policy.Instant, item *Item) bool {
	if item.Level == 0 || !r.watch.slow(now, r.config.Window) {
		return false
	}
	if id, _ := r.ended(now, r.age.head); id >= 0 {
		return false
	}
	return item.could(now) >= r.mark(&r.waiters[r.age.head]) &&
		int(r.sizeWith(item))*r.flows.used >= r.len
}

// newestFirst reports whether the room is in overload and serves the newest.
func (r *Room) newestFirst() bool { return r.watch.overload && !r.config.Observe }
