package stack

import (
	"time"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/breaker"
	"github.com/kalan-go/kalan/policy/span"
)

// watchOver puts a started attempt at the end of the watch list. Every attempt
// has the same slow threshold, so the list is in the order of turning slow.
func (s *Stack) watchOver(id int32) {
	after := s.breaker.SlowAfter()
	if after == span.Max {
		return
	}
	s.slots[id].watched = true
	s.watch.push(&s.slab, id)
	if s.watch.head == id {
		s.slowest = s.slots[id].started.Add(after)
	}
}

func (s *Stack) unwatch(id int32) {
	sl := &s.slots[id]
	if !sl.watched {
		return
	}
	sl.watched = false
	s.watch.remove(&s.slab, id)
	s.slowest = policy.Never
	if head := s.watch.head; head != none {
		s.slowest = s.slots[head].started.Add(s.breaker.SlowAfter())
	}
}

// countSlow tells the breaker of every attempt that is past the slow threshold
// and still unanswered, each at the moment it became known and only once.
func (s *Stack) countSlow() {
	for s.now >= s.slowest {
		id := s.watch.head
		s.unwatch(id)
		s.breaker.Overdue(s.now, &s.slots[id].pass)
		s.lookAtBreaker()
	}
}

func (s *Stack) lookAtBreaker() {
	if s.breaker.Look(s.now) != s.seen {
		s.breakerMoved()
	}
}

// breakerMoved takes in a change of the breaker's state. Nobody waits behind a
// tripped breaker.
func (s *Stack) breakerMoved() {
	s.seen = s.breaker.Look(s.now)
	s.moves++
	s.journal.moved(s.now, policy.Moved, int64(s.seen))
	if s.seen == breaker.Open {
		s.clearRoom()
	}
}

// hasty reports whether an attempt that was cut off after ran had been given
// so little time that nothing can be said about the dependency. A caller that
// waited twice the usual time and got nothing has seen something; so has one
// that waited at all while nothing usual is known. Its cancelling, in contrast
// to its deadline, never says anything (O-07).
func (s *Stack) hasty(ran time.Duration) bool {
	median, known := s.latency.Median()
	if !known {
		return false
	}
	return ran < min(s.breaker.SlowAfter(), span.Mul(median, 2))
}
