package stack

import (
	"time"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/breaker"
	"github.com/kalan-go/kalan/policy/bucket"
	"github.com/kalan-go/kalan/policy/budget"
	"github.com/kalan-go/kalan/policy/limit"
	"github.com/kalan-go/kalan/policy/throttle"
)

// A Ticket names one attempt: the place of its slot in the slab and the
// generation of that place. A stale, double or late use is a no-op. The zero
// Ticket names nothing.
type Ticket struct {
	slot int32
	gen  uint32
}

// Slot returns the ticket's place in the slab: small, dense, and used again
// after the attempt has ended. Drivers keep a wake-up channel for each place.
func (t Ticket) Slot() int { return int(t.slot) }

// IsZero reports whether t names no attempt at all.
func (t Ticket) IsZero() bool { return t.gen == 0 }

type state uint8

const (
	free state = iota
	waiting
	granted
	refused
	running
	kept
)

const none = -1

// A slot is the life of one attempt, from its place in the room to the last
// byte of its answer.
type slot struct {
	gen     uint32
	state   state
	woken   bool // in the queue of Woken
	watched bool // in the list of attempts not yet known to be slow
	told    bool // the breaker has heard this attempt's outcome
	callers bool // until is the caller's deadline, not the attempt's own limit
	late    bool // the caller left because its deadline passed
	refused bool // the dependency had no room for it
	loser   bool // another attempt of the same call has won
	reserve bool // occupies the reserved probe slot
	excused bool // it waited for its caller, and says nothing
	why     policy.Reason
	moves   uint32 // how often the breaker had moved when this attempt was admitted
	next    int32  // in whichever list the state puts the slot
	prev    int32
	route   uint8
	asked   throttle.Mark
	left    time.Duration // what the caller's time was at the start; 0: without a bound
	started policy.Instant
	bound   policy.Instant // presumed dead from then on
	until   policy.Instant // waiting: refused from then on; running: the attempt's end
	pass    breaker.Pass
	drawn   bucket.Mark
	mark    budget.Mark
	token   limit.Token
}

// slab is the memory of all slots, with intrusive lists threaded through it:
// nothing is allocated once it has grown to what is in use at the same time.
type slab struct {
	slots []slot
	free  int32 // head of the free list
}

func newSlab() slab { return slab{free: none} }

// take returns a fresh slot in the given state.
func (s *slab) take(st state) (int32, *slot) {
	id := s.free
	if id == none {
		id = int32(len(s.slots))
		s.slots = append(s.slots, slot{})
	} else {
		s.free = s.slots[id].next
	}
	sl := &s.slots[id]
	gen := sl.gen + 1
	if gen == 0 { // 0 is the generation of the zero Ticket
		gen = 1
	}
	*sl = slot{gen: gen, state: st, next: none, prev: none}
	return id, sl
}

// drop puts the slot back; every ticket for it is stale from now on.
func (s *slab) drop(id int32, sl *slot) {
	sl.state = free
	sl.gen++
	sl.next = s.free
	s.free = id
}

// at returns the slot that t names, or nil when the ticket is stale.
func (s *slab) at(t Ticket) *slot {
	if uint(t.slot) >= uint(len(s.slots)) { // a negative one, too
		return nil
	}
	if sl := &s.slots[t.slot]; sl.gen == t.gen && sl.state != free {
		return sl
	}
	return nil
}

func (s *slab) ticket(id int32) Ticket { return Ticket{id, s.slots[id].gen} }

// A list is a queue of slots, oldest first, linked through slot.next and
// slot.prev. A slot is in at most one list at a time.
type list struct{ head, tail int32 }

func newList() list { return list{none, none} }

func (l *list) push(s *slab, id int32, sl *slot) {
	sl.prev, sl.next = l.tail, none
	if l.tail == none {
		l.head = id
	} else {
		s.slots[l.tail].next = id
	}
	l.tail = id
}

func (l *list) remove(s *slab, sl *slot) {
	if sl.prev == none {
		l.head = sl.next
	} else {
		s.slots[sl.prev].next = sl.next
	}
	if sl.next == none {
		l.tail = sl.prev
	} else {
		s.slots[sl.next].prev = sl.prev
	}
	sl.prev, sl.next = none, none
}
