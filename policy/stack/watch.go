package stack

import (
	"time"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/breaker"
	"github.com/kalan-go/kalan/policy/span"
)

// watchOver puts a started attempt at the end of the watch list. Every attempt
// has the same slow threshold, so the list is in the order of turning slow.
func (s *Stack) watchOver(id int32, sl *slot) {
	after := s.breaker.SlowAfter()
	if after == span.Max {
		return
	}
	sl.watched = true
	s.watch.push(&s.slab, id, sl)
	if s.watch.head == id {
		s.slowest = sl.started.Add(after)
	}
}

func (s *Stack) unwatch(sl *slot) {
	if !sl.watched {
		return
	}
	sl.watched = false
	s.watch.remove(&s.slab, sl)
	s.slowest = policy.Never
	if head := s.watch.head; head != none {
		s.slowest = s.slots[head].started.Add(s.breaker.SlowAfter())
	}
}

// countSlow tells the breaker of every attempt that is past the slow threshold
// and still unanswered, once, and as of the instant at which it turned slow:
// nothing depends on how often somebody looks.
func (s *Stack) countSlow() {
	for s.now >= s.slowest {
		sl, at := &s.slots[s.watch.head], s.slowest
		s.unwatch(sl)
		s.breaker.Overdue(at, &sl.pass)
		s.lookAtBreaker(at)
	}
}

func (s *Stack) lookAtBreaker(at policy.Instant) {
	if to := s.breaker.Look(at); to != s.seen {
		s.breakerMoved(at, to)
	}
}

// breakerMoved takes in a change of the breaker's state.
func (s *Stack) breakerMoved(at policy.Instant, to breaker.State) {
	s.seen = to
	if s.shares && to == breaker.Closed && !s.lenient { // what it counted was of the outage
		s.throttle.Forget()
	}
	s.journal.moved(at, policy.Moved, int64(to))
	s.enforce()
}

// enforce applies the breaker's state to those whom it had let pass before:
// nobody waits behind a tripped breaker, and who was granted a slot and has not
// looked starts nothing. One that only observes does neither.
func (s *Stack) enforce() {
	if s.lenient {
		return
	}
	s.moves++
	if s.seen != breaker.Closed {
		s.clearRoom()
	}
}

// never is a delay after which nothing happens.
const never = span.Max

// hedgeDelay is how long an attempt may stay unanswered before another is
// launched beside it. A measured one is worked out anew every 16 answers, and
// is never while there are too few of them.
func (s *Stack) hedgeDelay() time.Duration {
	h := s.cfg.Retry.Hedge
	if h.After > 0 {
		return h.After
	}
	if h.Off() {
		return span.Max
	}
	if n := s.latency.Answers() / 16; n != s.hedgedAt {
		s.hedgedAt = n
		if d, known := s.latency.Quantile(h.Quantile); known {
			s.hedge = d
		}
	}
	return s.hedge
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
