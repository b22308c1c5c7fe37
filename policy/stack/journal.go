package stack

import (
	"time"

	"github.com/kalan-go/kalan/policy"
)

// A journal keeps the last decisions in a ring that others pull from: no user
// code runs under the driver's lock, and a reader that is slow loses the
// oldest, never holds up a call.
type journal struct {
	ring    []policy.Event
	next    uint64         // number of events ever written
	trace   bool           // calls too, not only moves
	slots   int            // the limit when it was last told
	resized policy.Instant // and when that was
}

// resizedAtMost is how often a limit is told to have moved: an adaptive one may
// move with every answer, and would push everything else out of the ring.
const resizedAtMost = 100 * time.Millisecond

func newJournal(trace, slots int) journal {
	j := journal{trace: trace > 0, slots: slots}
	if trace <= 0 {
		trace = moves
	}
	j.ring = make([]policy.Event, trace)
	return j
}

func (j *journal) put(e policy.Event) {
	j.ring[j.next%uint64(len(j.ring))] = e
	j.next++
}

func (j *journal) moved(now policy.Instant, k policy.Kind, to int64) {
	j.put(policy.Event{At: now, Kind: k, Count: to})
}

// sized takes in how many slots there are.
func (j *journal) sized(now policy.Instant, slots int) {
	if slots != j.slots {
		j.resize(now, slots)
	}
}

func (j *journal) resize(now policy.Instant, slots int) {
	if now.Sub(j.resized) >= resizedAtMost {
		j.slots, j.resized = slots, now
		j.moved(now, policy.Resized, int64(slots))
	}
}

func (j *journal) started(now policy.Instant, n int) {
	if !j.trace {
		return
	}
	kind := policy.Started
	if n > 1 {
		kind = policy.Retried
	}
	j.put(policy.Event{At: now, Kind: kind, Count: int64(n)})
}

func (j *journal) refused(now policy.Instant, why policy.Reason) {
	if j.trace {
		j.put(policy.Event{At: now, Kind: policy.Refused, Reason: why})
	}
}

func (j *journal) settled(now policy.Instant, o policy.Outcome, ran time.Duration) {
	if j.trace {
		j.put(policy.Event{At: now, Kind: policy.Settled, Outcome: o, Took: ran})
	}
}

// Events appends to buf the decisions with a number above after that are still
// kept, oldest first, and returns it with the number of the last one. Start
// with 0, and go on with what was returned.
func (s *Stack) Events(after uint64, buf []policy.Event) ([]policy.Event, uint64) {
	j := &s.journal
	first := after
	if size := uint64(len(j.ring)); j.next > size {
		first = max(first, j.next-size)
	}
	for n := first; n < j.next; n++ {
		buf = append(buf, j.ring[n%uint64(len(j.ring))])
	}
	return buf, max(after, j.next)
}
