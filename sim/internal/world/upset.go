package world

import (
	"cmp"
	"slices"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/stack"
	"github.com/kalan-go/kalan/sim/internal/agenda"
)

// upset lets something happen to an instance or a cache.
func (w *World) upset(u *Upset) {
	switch u.Kind {
	case Flush:
		for k := range w.caches[u.Of].entries {
			w.caches[u.Of].entries[k].until = 0
		}
	case Freeze:
		w.freeze(u)
	case Unlist:
		sv := &w.services[w.instances[u.Of].service]
		sv.listed = slices.DeleteFunc(sv.listed, func(i int32) bool { return i == u.Of })
	case List:
		w.list(u.Of)
	case Close:
		w.instances[u.Of].closed = true
	case Kill:
		w.kill(u.Of)
	case Rise:
		w.instances[u.Of].closed = false
	}
}

// list sends requests to an instance again. The order is that of the instances,
// so that the same draw means the same one.
func (w *World) list(i int32) {
	sv := &w.services[w.instances[i].service]
	if at, is := slices.BinarySearch(sv.listed, i); !is {
		sv.listed = slices.Insert(sv.listed, at, i)
	}
}

// freeze lets an instance stand still. Its work stands still by its Speeds;
// here it is what it would be told that waits.
func (w *World) freeze(u *Upset) {
	w.instances[u.Of].frozen = u.To
	w.frozen++
	w.agenda.Push(u.To, thaws, u.Of, 0, 0)
}

// standstill returns until when the process that an event is for stands still.
// It takes in what came meanwhile afterwards, in the order in which it came.
func (w *World) standstill(e *agenda.Event) policy.Instant {
	i := none
	switch e.Kind {
	case reaches:
		i = w.visits[e.A].instance
	case answers:
		i = w.waitsFor(&w.visits[e.A])
	case alarms, wakes, leaves:
		i = w.guards[w.calls[e.A].guard].owner
	case looks:
		i = w.guards[e.A].owner
	case presumed, cuts:
		if g := w.visits[e.A].guard; g != none {
			i = w.guards[g].owner
		}
	}
	if i == none {
		return 0
	}
	return w.instances[i].frozen
}

// waitsFor returns the instance in which an answer is waited for; none when
// that is a load.
func (w *World) waitsFor(v *visit) int32 {
	switch {
	case v.guard != none:
		return w.guards[v.guard].owner
	case v.from.kind == fromVisit:
		return w.visits[v.from.id].instance
	}
	return none
}

// kill ends a process: whoever waits for it is told by a broken connection,
// what it waited for goes on alone, and what its guards knew is forgotten.
func (w *World) kill(i int32) {
	in := &w.instances[i]
	in.closed = true
	t := &w.tally.Services[in.service]
	in.take(w.now, -in.busy, t)
	in.change(w.now, -in.present, t)
	in.waiting, in.head, in.tail = 0, none, none
	in.delay = codel{}
	if in.shared != nil {
		*in.shared = crowd{counted: w.now, gen: in.shared.gen + 1}
	}
	w.forgetGuards(i)
	dying := w.those(func(v *visit) bool { return v.instance == i && (v.state == queued || v.state == serving) })
	for _, id := range dying { // before the first of them is told: it may set others going
		if w.m.Ops[w.visits[id].pc].Kind == Look {
			w.leaveCache(id)
		}
	}
	for _, id := range dying {
		if w.visits[id].loads > 0 {
			w.giveUp(id, answer{result: Failed})
		}
		v := &w.visits[id]
		v.calls = none
		v.gen++ // its work is not finished any more
		w.reply(id, answer{result: Failed})
	}
}

// those returns the visits for which something is so. They stand in an order
// that does not depend on who else is in the world, as their places do.
func (w *World) those(are func(*visit) bool) []int32 {
	var all []int32
	for id := range w.visits {
		if w.visits[id].state != unused && are(&w.visits[id]) {
			all = append(all, int32(id))
		}
	}
	slices.SortFunc(all, func(a, b int32) int { return cmp.Compare(w.visits[a].id, w.visits[b].id) })
	return all
}

// forgetGuards makes the guards of a process new, and hangs up their calls.
func (w *World) forgetGuards(i int32) {
	for id := range w.calls {
		if c := &w.calls[id]; c.used && w.guards[c.guard].owner == i {
			w.dropCall(int32(id))
		}
	}
	for _, id := range w.those(func(v *visit) bool { return v.guard != none && w.guards[v.guard].owner == i }) {
		v := &w.visits[id]
		v.ticket, v.guard, v.gone = stack.Ticket{}, none, true
		w.abandon(id)
	}
	for g := range w.guards {
		if gd := &w.guards[g]; gd.owner == i {
			gd.stack = stack.New(w.config(int(gd.of)))
			gd.looking, gd.traced = false, 0
			gd.gen++
		}
	}
}
