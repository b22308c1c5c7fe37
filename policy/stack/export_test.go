package stack

import (
	"fmt"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/breaker"
	"github.com/kalan-go/kalan/policy/bucket"
	"github.com/kalan-go/kalan/policy/budget"
	"github.com/kalan-go/kalan/policy/span"
	"github.com/kalan-go/kalan/policy/throttle"
)

// What the tests of this package may see of a stack's inside.

type State = state

const (
	Waiting = waiting
	Granted = granted
	Refused = refused
	Running = running
	Kept    = kept
)

// String names the state as the package comment does.
func (s state) String() string {
	return [...]string{"free", "waiting", "granted", "refused", "running", "kept"}[s]
}

// An Attempt is a slot that is not free.
type Attempt struct {
	Ticket                Ticket
	State                 State
	Told, Reserve, Probe  bool
	Started, Until, Bound policy.Instant
}

// Attempts returns every slot that is not free, by place.
func (s *Stack) Attempts() []Attempt {
	var all []Attempt
	for i := range s.slots {
		if sl := &s.slots[i]; sl.state != free {
			all = append(all, Attempt{
				Ticket: s.ticket(int32(i)), State: sl.state,
				Told: sl.told, Reserve: sl.reserve, Probe: sl.pass.Probe(),
				Started: sl.started, Until: sl.until, Bound: sl.bound,
			})
		}
	}
	return all
}

// StateOf returns the state of the attempt that t names, free for a stale t.
func (s *Stack) StateOf(t Ticket) State {
	if sl := s.at(t); sl != nil {
		return sl.state
	}
	return free
}

// Untold reports whether the breaker has still to hear of the attempt.
func (s *Stack) Untold(t Ticket) bool {
	sl := s.at(t)
	return sl != nil && !sl.told
}

// Now returns the last instant seen.
func (s *Stack) Now() policy.Instant { return s.now }

// SlowAfter is the breaker's slow threshold.
func (s *Stack) SlowAfter() policy.Instant { return policy.Instant(s.breaker.SlowAfter()) }

// Reserved reports whether the reserved probe slot is taken.
func (s *Stack) Reserved() bool { return s.reserve }

// Running returns how many attempts of the call run, as the call knows it.
func (c *Call) Running() int { return int(c.running) }

// Waits reports whether an attempt of the call waits for its slot, or was
// granted or refused it and its owner has not looked.
func (s *Stack) Waits(c *Call) bool { return s.at(c.waiting) != nil }

// Books is what a refusal may not change: everything but the refusals' own
// counters.
type Books struct {
	Breaker        breaker.Snapshot
	Bucket         bucket.Snapshot
	Throttle       throttle.Snapshot
	Budget         budget.Snapshot
	Limit, Taken   int
	Waiting, Slots int
	Reserve        bool
}

// Books returns the accounts at the last instant seen.
func (s *Stack) Books() Books {
	b := Books{
		Breaker: s.breaker.Snapshot(s.now),
		Budget:  s.budget.Snapshot(s.now),
		Limit:   s.limit.Max(), Taken: s.limit.InFlight(),
		Waiting: s.room.Len(), Slots: len(s.Attempts()), Reserve: s.reserve,
	}
	if s.rate != nil {
		b.Bucket = s.rate.Snapshot(s.now)
	}
	if s.throttle != nil {
		b.Throttle = s.throttle.Snapshot(s.now)
	}
	b.Breaker.Refused, b.Bucket.Refused, b.Throttle.Refused = 0, 0, 0
	return b
}

// Tangled says what is wrong with the lists that are threaded through the
// slots; "" for nothing. Once the configuration has changed, an attempt may be
// watched by other rules than it was started with, or not at all.
func (s *Stack) Tangled(changed bool) string {
	for _, check := range []func() string{s.tangledFree, s.tangledWoken, func() string { return s.tangledWatch(changed) }} {
		if wrong := check(); wrong != "" {
			return wrong
		}
	}
	return ""
}

func (s *Stack) tangledFree() string {
	listed := make(map[int32]bool)
	for id := s.free; id != none; id = s.slots[id].next {
		if listed[id] || s.slots[id].state != free {
			return fmt.Sprintf("slot %d is in the free list as %v (twice: %v)", id, s.slots[id].state, listed[id])
		}
		listed[id] = true
	}
	if used := len(s.Attempts()); used+len(listed) != len(s.slots) {
		return fmt.Sprintf("%d slots used and %d free of %d", used, len(listed), len(s.slots))
	}
	return ""
}

func (s *Stack) tangledWoken() string {
	listed, whole := s.follow(&s.woken)
	if !whole {
		return "the list of the woken is broken"
	}
	for i := range s.slots {
		if s.slots[i].woken != listed[int32(i)] {
			return fmt.Sprintf("slot %d (%v): woken is %v, in the list: %v",
				i, s.slots[i].state, s.slots[i].woken, listed[int32(i)])
		}
	}
	return ""
}

func (s *Stack) tangledWatch(changed bool) string {
	listed, whole := s.follow(&s.watch)
	if !whole {
		return "the list of the watched is broken"
	}
	slow := s.breaker.SlowAfter()
	for i := range s.slots {
		sl := &s.slots[i]
		should := (sl.state == running || sl.state == kept) && !sl.told &&
			slow != span.Max && s.now < sl.started.Add(slow)
		if sl.watched != listed[int32(i)] || sl.watched && !should && slow != span.Max || should && !sl.watched && !changed {
			return fmt.Sprintf("slot %d (%v): watched is %v, in the list: %v, should be: %v",
				i, sl.state, sl.watched, listed[int32(i)], should)
		}
	}
	first := policy.Never
	if s.watch.head != none {
		first = s.slots[s.watch.head].started.Add(slow)
	}
	if s.slowest != first {
		return fmt.Sprintf("the next slow attempt is due at %v, not at %v", first, s.slowest)
	}
	return ""
}

// follow walks a list and returns who is in it, and whether it is whole: linked
// both ways, everybody once, with the right end.
func (s *Stack) follow(l *list) (listed map[int32]bool, whole bool) {
	listed = make(map[int32]bool)
	last := int32(none)
	for id := l.head; id != none; last, id = id, s.slots[id].next {
		if listed[id] || s.slots[id].prev != last {
			return nil, false
		}
		listed[id] = true
	}
	return listed, l.tail == last
}
