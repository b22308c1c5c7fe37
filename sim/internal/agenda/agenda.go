// Package agenda is the simulator's list of what happens next, for its event
// loop.
//
// Events are values of 32 bytes in a heap of their own: a pointer or a closure
// in the heap, or container/heap's interface, costs more than everything that a
// simulated call does besides. The order is total: by time, and by the order of
// pushing among events of one instant, so that a run is the same every time.
//
// An event is never taken out. Whoever no longer wants one counts a generation
// up, and finds the old number in the event when it comes.
//
// Limits: times are not negative; the heap grows to the largest number of
// events that were pending at once and stays that large.
package agenda

import "github.com/kalan-go/kalan/policy"

// An Event is something that happens at an instant. What Kind, A, B and Gen
// mean is the loop's business.
type Event struct {
	At   policy.Instant
	seq  uint64
	A, B int32
	Gen  uint32
	Kind uint8
}

func (e *Event) before(f *Event) bool {
	return e.At < f.At || e.At == f.At && e.seq < f.seq
}

// An Agenda holds events and the time. The zero value is empty, at 0.
type Agenda struct {
	heap []Event
	due  []Event // of the present instant, in order; those before next are done
	next int
	now  policy.Instant
	seq  uint64
	hash uint64
}

// Now returns the instant of the event that was popped last.
func (a *Agenda) Now() policy.Instant { return a.now }

// Len returns how many events are pending.
func (a *Agenda) Len() int { return len(a.heap) + len(a.due) - a.next }

// Popped returns how many events there have been.
func (a *Agenda) Popped() uint64 { return a.seq - uint64(a.Len()) }

// Hash returns a number that two runs have in common when they popped the same
// events in the same order, and hardly ever otherwise.
func (a *Agenda) Hash() uint64 {
	h := a.hash
	h ^= h >> 32
	h *= 0xd6e8feb86659fd93
	return h ^ h>>32
}

// Push adds an event. One that lies in the past happens now.
func (a *Agenda) Push(at policy.Instant, kind uint8, x, y int32, gen uint32) {
	a.seq++
	e := Event{At: max(at, a.now), seq: a.seq, A: x, B: y, Gen: gen, Kind: kind}
	if e.At == a.now {
		// The heap would carry it past everything that is pending, only to give
		// it back at once.
		if len(a.due) == cap(a.due) && a.next > len(a.due)/2 {
			a.due, a.next = a.due[:copy(a.due, a.due[a.next:])], 0 // an instant may have more events than there is room for
		}
		a.due = append(a.due, e)
		return
	}
	a.heap = append(a.heap, e)
	a.up(&e)
}

// Pop returns the next event, and false when there is none. The time is that
// event's from then on.
func (a *Agenda) Pop() (Event, bool) {
	e, ok := a.take()
	if ok {
		a.note(&e)
	}
	return e, ok
}

func (a *Agenda) take() (Event, bool) {
	if a.next < len(a.due) {
		if e := a.due[a.next]; len(a.heap) == 0 || e.before(&a.heap[0]) {
			if a.next++; a.next == len(a.due) {
				a.due, a.next = a.due[:0], 0
			}
			return e, true
		}
	}
	last := len(a.heap) - 1
	if last < 0 {
		return Event{}, false
	}
	e, moved := a.heap[0], a.heap[last]
	a.heap = a.heap[:last]
	if last > 0 {
		a.down(&moved)
	}
	a.now = e.At
	return e, true
}

// note takes the event into the hash.
func (a *Agenda) note(e *Event) {
	const odd = 0x9e3779b97f4a7c15
	h := (a.hash ^ uint64(e.At)) * odd
	a.hash = (h ^ h>>29 ^ uint64(e.Kind)<<56 ^ uint64(uint32(e.A))<<24 ^ uint64(uint32(e.B))) * odd
}

// children is the heap's fan-out. With four the tree is half as deep as with
// two, for one more comparison a level.
const children = 4

// up puts e into the last place or above it.
func (a *Agenda) up(e *Event) {
	h := a.heap
	i := len(h) - 1
	for i > 0 {
		parent := (i - 1) / children
		if !e.before(&h[parent]) {
			break
		}
		h[i] = h[parent]
		i = parent
	}
	h[i] = *e
}

// down puts e where the root was taken from, or below.
func (a *Agenda) down(e *Event) {
	h := a.heap
	i := 0
	for first := 1; first < len(h); first = i*children + 1 {
		least := first
		for c := first + 1; c < min(first+children, len(h)); c++ {
			if h[c].before(&h[least]) {
				least = c
			}
		}
		if e.before(&h[least]) {
			break
		}
		h[i] = h[least]
		i = least
	}
	h[i] = *e
}
