package world

import (
	"time"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/stack"
)

// This file is the driver on the virtual clock. It does what hold_flight.go
// does on the wall clock, verb by verb and in the same order, with an event
// where that one has a goroutine, a timer or a channel. Whoever changes one of
// the two changes both; the test of parity holds them together.

// A guard is one process's stack before one dependency.
type guard struct {
	stack   *stack.Stack
	of      int32   // the model's guard
	owner   int32   // the instance that it belongs to; none: a load's
	waiters []int32 // by place: the call that waits there
	looking bool
	gen     uint32 // of its looks: those of a process that is gone are not taken
	trace   []policy.Event
	traced  uint64
}

// lookEvery is how often a guard looks at the time by itself.
const lookEvery = time.Second

// addGuards makes the guards of every process, those of one model guard one
// behind the other.
func (w *World) addGuards() {
	for i := range w.m.Guards {
		g := &w.m.Guards[i]
		w.firstOf = append(w.firstOf, int32(len(w.guards)))
		for n := range g.Processes {
			owner := none
			if g.Owner != none {
				owner = w.services[g.Owner].first + int32(n)
			}
			w.guards = append(w.guards, guard{stack: stack.New(w.config(i)), of: int32(i), owner: owner})
		}
	}
}

func (w *World) config(i int) stack.Config {
	c := w.m.Guards[i].Config
	if w.m.Journals {
		c.Trace = journal
	}
	return c
}

// journal is how many decisions a guard keeps until they are taken out.
const journal = 1 << 12

// guardOf returns the guard that a request from an origin goes through.
func (w *World) guardOf(edge int32, r *request, from origin) int32 {
	g := w.m.Edges[edge].Guard
	first := w.firstOf[g]
	if from.kind == fromVisit {
		in := w.visits[from.id].instance
		return first + in - w.services[w.instances[in].service].first
	}
	if n := w.m.Guards[g].Processes; n > 1 {
		s := r.id.Sub(forInstance)
		return first + int32(s.IntN(n))
	}
	return first
}

// dial begins a call through a guard, and returns its name: kalan's begin.
func (w *World) dial(edge int32, r *request, from origin) (int32, uint32) {
	gi := w.guardOf(edge, r, from)
	id, c := w.newCall()
	g, m := &w.guards[gi], &w.m.Guards[w.guards[gi].of]
	c.request, c.from, c.edge, c.guard = *r, from, edge, gi
	c.Ask = stack.Ask{
		Deadline: r.deadline, Seed: uint64(r.id), Flow: r.flow, Level: r.level, Weight: r.weight, Route: w.m.Edges[edge].Route,
		Hedge: !m.Inline && !r.unsafe, Unsafe: r.unsafe, Once: r.once,
	}
	if m.Mark {
		c.once = true
	}
	if from.kind == fromVisit {
		v := &w.visits[from.id]
		c.next, v.calls = v.calls, id
	}
	w.tally.Edges[edge].Calls++
	gen := c.gen
	g.stack.Begin(w.now, &c.Call)
	w.follow(id, w.next(id))
	return id, gen
}

// next ends a section that has to know what its call does now.
func (w *World) next(id int32) stack.Step {
	c := &w.calls[id]
	g := &w.guards[c.guard]
	s := stack.Step{Kind: stack.Done}
	if !c.Over() {
		s = g.stack.Next(w.now, &c.Call)
	}
	if s.Kind == stack.Wait && !s.Ticket.IsZero() {
		for s.Ticket.Slot() >= len(g.waiters) {
			g.waiters = append(g.waiters, none)
		}
		g.waiters[s.Ticket.Slot()] = id
	}
	w.unlock(c.guard)
	return s
}

// unlock ends every section: whoever was granted or refused in it looks again,
// at this instant, after what is due at it already.
func (w *World) unlock(gi int32) {
	g := &w.guards[gi]
	for t, ok := g.stack.Woken(); ok; t, ok = g.stack.Woken() {
		id := g.waiters[t.Slot()]
		w.push(w.now, wakes, id, w.calls[id].gen)
	}
	if !g.looking && g.stack.Restless() {
		g.looking = true
		w.push(w.now.Add(lookEvery), looks, gi, g.gen)
	}
	if w.m.Journals {
		g.trace, g.traced = g.stack.Events(g.traced, g.trace)
	}
}

func (w *World) look(gi int32, gen uint32) {
	g := &w.guards[gi]
	if g.gen != gen {
		return
	}
	g.stack.Look(w.now)
	g.looking = false
	w.unlock(gi)
}

// follow does what the stack says until the call has to wait or is over.
func (w *World) follow(id int32, s stack.Step) {
	for {
		switch s.Kind {
		case stack.Start:
			w.launch(id, s)
			s = w.again(id)
		case stack.Wait:
			w.wait(id, s)
			return
		default:
			w.hangUp(id)
			return
		}
	}
}

// launch sends an attempt.
func (w *World) launch(id int32, s stack.Step) {
	c := &w.calls[id]
	m := &w.m.Guards[w.guards[c.guard].of]
	r := c.request
	r.id = r.id.Sub(forAttempt + uint64(c.Attempts()))
	r.attempt = uint32(c.Attempts()) - 1
	r.deadline = policy.Never
	if m.Carry {
		r.deadline = min(s.Until, c.deadline.Add(-m.Margin))
	}
	vid, v := w.send(c.edge, &r, origin{fromCall, id, c.gen})
	v.ticket, v.guard, v.until, v.bound = s.Ticket, c.guard, s.Until, s.Bound
	c.out[c.outs] = vid
	c.outs++
	w.tally.launched(c.edge, &c.request, c.from, w.now)
}

// again is a section that asks what to do now; whoever is gone is cancelled
// first.
func (w *World) again(id int32) stack.Step {
	c := &w.calls[id]
	g := &w.guards[c.guard]
	if c.left || w.now >= c.Ask.Deadline {
		g.stack.Cancel(w.now, &c.Call)
	}
	return w.next(id)
}

// wait lets a call sleep until whatever comes first.
func (w *World) wait(id int32, s stack.Step) {
	c := &w.calls[id]
	c.until = min(s.Until, c.Ask.Deadline)
	w.setAlarm(id)
}

// setAlarm sees to it that an alarm comes no later than the call wants to look.
// A place has one alarm at a time, and keeps it when another call takes the
// place: most calls are answered long before, so an alarm for each would be the
// most frequent event of all.
func (w *World) setAlarm(id int32) {
	c := &w.calls[id]
	if c.until == policy.Never || c.alarm <= c.until {
		return
	}
	c.alarm = c.until
	c.alarmGen++
	w.push(c.alarm, alarms, id, c.alarmGen)
}

func (w *World) alarm(id int32, gen uint32) {
	c := &w.calls[id]
	if c.alarmGen != gen {
		return
	}
	c.alarm = policy.Never
	if c.until > w.now {
		w.setAlarm(id)
		return
	}
	w.wakeUp(id)
}

// wakeUp is for a call whose time is up, or whose caller has left.
func (w *World) wakeUp(id int32) {
	c := &w.calls[id]
	if w.m.Guards[w.guards[c.guard].of].Inline && c.outs > 0 {
		w.giveUpInline(id)
		return
	}
	w.lookAgain(id)
}

// lookAgain is what a call does when it wakes up.
func (w *World) lookAgain(id int32) {
	s := w.again(id)
	w.leaveOverdue(id)
	w.follow(id, s)
}
