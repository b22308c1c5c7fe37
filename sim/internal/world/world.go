package world

import (
	"fmt"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/sim/internal/agenda"
	"github.com/kalan-go/kalan/sim/random"
)

// A World is one run of a model.
type World struct {
	agenda    agenda.Agenda
	now       policy.Instant
	m         *Model
	visits    []visit
	calls     []call
	freeVisit int32
	freeCall  int32
	live      int // visits
	frozen    int // instances that stand still
	nextBin   policy.Instant

	instances []instance
	services  []service
	guards    []guard
	firstOf   []int32 // the first guard of each of the model's
	loads     []load
	caches    []cache
	drawn     []uint64 // by operation: how often its law was drawn from
	tally     *Tally
}

// The kinds of events, and what the A of each names.
const (
	arrives  uint8 = iota // load; B is which of its trace or clients
	reaches               // visit: it is at the service
	finishes              // visit: its work is done
	departs               // instance: one of those who share it is done
	answers               // visit: the answer is back
	alarms                // call
	wakes                 // call: look again
	leaves                // call: its caller cancels
	looks                 // guard: time has passed
	presumed              // visit: its attempt is given up as dead
	cuts                  // visit: its attempt is cut off, its caller left
	happens               // upset
	thaws                 // instance
	begins                // none: everything counts from now on
	ends
)

// New returns the world of the model before its first event. The stream is that
// of the replication.
func New(m *Model, s random.Stream) *World {
	w := &World{m: m, freeVisit: none, freeCall: none, drawn: make([]uint64, len(m.Ops))}
	w.tally = newTally(m)
	w.addServices(s)
	w.addGuards()
	w.addCaches(s)
	w.addLoads(s)
	for i, u := range m.Upsets {
		w.agenda.Push(u.At, happens, int32(i), 0, 0)
	}
	w.agenda.Push(m.Gate, begins, 0, 0, 0)
	w.agenda.Push(m.End, ends, 0, 0, 0)
	w.nextBin = policy.Instant(m.Bin)
	return w
}

// Watched is how many events there are between two looks of the model's Watch.
const Watched = 1 << 14

// Run plays the model to its end. The error says that more requests were in
// the world at once than the model allows. There is no tally when Watch has
// ended it.
func (w *World) Run() (*Tally, error) {
	for n := uint(1); w.Step(); n++ {
		if n%Watched == 0 && w.m.Watch != nil && !w.m.Watch(w.now) {
			return nil, nil
		}
		if w.live > w.m.Visits {
			return nil, fmt.Errorf("%d requests are in the system at %v, more than the %d that are simulated at once", w.live, w.now, w.m.Visits)
		}
	}
	w.close()
	return w.tally, nil
}

// Step plays one event and reports whether there was one before the end.
func (w *World) Step() bool {
	e, ok := w.agenda.Pop()
	if !ok || e.Kind == ends {
		w.now = w.m.End
		return false
	}
	w.now = e.At
	for w.now >= w.nextBin {
		w.sample()
	}
	if w.frozen > 0 {
		if until := w.standstill(&e); until > w.now {
			w.agenda.Push(until, e.Kind, e.A, e.B, e.Gen)
			return true
		}
	}
	w.happen(&e)
	return true
}

func (w *World) happen(e *agenda.Event) {
	switch e.Kind {
	case arrives:
		w.arrive(e.A, e.B, e.Gen)
	case reaches:
		if w.visits[e.A].gen == e.Gen {
			w.reach(e.A)
		}
	case finishes:
		if w.visits[e.A].gen == e.Gen {
			w.finish(e.A)
		}
	case departs:
		w.depart(e.A, e.Gen)
	case answers:
		if w.visits[e.A].gen == e.Gen {
			w.deliver(e.A)
		}
	case alarms:
		w.alarm(e.A, e.Gen)
	case wakes:
		if w.calls[e.A].gen == e.Gen {
			w.lookAgain(e.A)
		}
	case leaves:
		if c := &w.calls[e.A]; c.gen == e.Gen {
			c.left = true
			w.wakeUp(e.A)
		}
	case looks:
		w.look(e.A, e.Gen)
	case presumed:
		w.cutOff(e, policy.Failure)
	case cuts:
		w.cutOff(e, policy.Cut)
	case happens:
		w.upset(&w.m.Upsets[e.A])
	case thaws:
		w.frozen--
	case begins:
		w.tally.begin(w.now)
	}
}

// push adds an event about a visit or a call of that generation.
func (w *World) push(at policy.Instant, kind uint8, id int32, gen uint32) {
	w.agenda.Push(at, kind, id, 0, gen)
}
