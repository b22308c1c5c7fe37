package world

import (
	"time"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/stack"
	"github.com/kalan-go/kalan/sim/random"
)

const none int32 = -1

// A request is what travels: who asks for what, and until when.
type request struct {
	id       random.Stream  // what is drawn for it comes from here
	asked    policy.Instant // by the load
	deadline policy.Instant // as far as it was told; Never
	number   uint32         // of the load's requests, from 0
	attempt  uint32         // of the call, from 0
	load     int32
	key      int32
	flow     uint32
	level    uint8
	weight   uint8
	once     bool // another layer owns the retries
	unsafe   bool // doing it twice does it twice
}

// An origin is who waits for an answer.
type origin struct {
	kind originKind
	id   int32 // load, visit or call
	gen  uint32
}

type originKind uint8

const (
	nobody originKind = iota
	fromLoad
	fromVisit
	fromCall
)

type visitState uint8

const (
	unused    visitState = iota
	travels              // to the service
	queued               // before a worker
	serving              // with a worker, working or waiting for others
	returning            // on the way back
)

// An answer is how a visit or a call ended.
type answer struct {
	result     Result
	why        policy.Reason
	retryAfter time.Duration
}

// worse returns the one of two answers that a caller of both has to pass on.
func (a answer) worse(b answer) answer {
	if b.result > a.result {
		return b
	}
	return a
}

// A visit is one request at a service.
type visit struct {
	request
	answer
	from  origin
	gen   uint32
	state visitState
	gone  bool // nobody waits for it

	shadow   bool // refreshes a cache in the background
	edge     int32
	instance int32
	pc       int32
	pending  int32  // calls that are out
	version  uint32 // that optimistic work has read
	calls    int32  // the first of its calls through guards
	loads    int32  // the cache entry that it loads, one more; 0: none
	next     int32  // in the queue, or among those who wait for a cache entry
	prev     int32

	born, begun policy.Instant // when it came to the service, and to a worker
	since       policy.Instant // when the present work began
	loading     policy.Instant // when it began to load a cache entry
	work        time.Duration  // the present work

	ticket stack.Ticket // the attempt, while its slot is held
	guard  int32
	until  policy.Instant
	bound  policy.Instant
}

// aloft is how many attempts of one call can be out at once.
const aloft = 4

// A call is one call through a guard.
type call struct {
	stack.Call
	request
	last  answer // of its last attempt
	from  origin
	gen   uint32
	used  bool
	left  bool // its caller has cancelled
	outs  int8
	out   [aloft]int32
	guard int32
	edge  int32
	next  int32 // of the same visit

	until    policy.Instant // when it wants to look again
	alarm    policy.Instant // when an alarm of this place is due; Never
	alarmGen uint32
}

func (w *World) newVisit() (int32, *visit) {
	id := w.freeVisit
	if id == none {
		id = int32(len(w.visits))
		w.visits = append(w.visits, visit{})
	} else {
		w.freeVisit = w.visits[id].next
	}
	w.live++
	v := &w.visits[id]
	*v = visit{gen: v.gen + 1, calls: none, next: none, prev: none, guard: none}
	return id, v
}

func (w *World) dropVisit(id int32) {
	v := &w.visits[id]
	v.state = unused
	v.gen++
	v.next = w.freeVisit
	w.freeVisit = id
	w.live--
}

func (w *World) newCall() (int32, *call) {
	id := w.freeCall
	if id == none {
		id = int32(len(w.calls))
		w.calls = append(w.calls, call{alarm: policy.Never})
	} else {
		w.freeCall = w.calls[id].next
	}
	c := &w.calls[id]
	*c = call{gen: c.gen + 1, used: true, next: none, alarm: c.alarm, alarmGen: c.alarmGen}
	return id, c
}

func (w *World) dropCall(id int32) {
	c := &w.calls[id]
	c.used = false
	c.until = policy.Never
	c.gen++
	c.next = w.freeCall
	w.freeCall = id
}
