package world

import (
	"time"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/stack"
	"github.com/kalan-go/kalan/sim/internal/agenda"
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
	c.Ask = stack.Ask{Deadline: r.deadline, Seed: uint64(r.id), Flow: r.flow, Level: r.level, Weight: r.weight, Once: r.once}
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
	w.follow(id, w.next(g, c))
	return id, gen
}

// next ends a section that has to know what its call does now.
func (w *World) next(g *guard, c *call) stack.Step {
	s := stack.Step{Kind: stack.Done}
	if !c.Over() {
		s = g.stack.Next(w.now, &c.Call)
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

// again is a section that asks what to do now; who is gone is cancelled first.
func (w *World) again(id int32) stack.Step {
	c := &w.calls[id]
	g := &w.guards[c.guard]
	if c.left || w.now >= c.Ask.Deadline {
		g.stack.Cancel(w.now, &c.Call)
	}
	return w.next(g, c)
}

// wait lets a call sleep until whatever comes first.
func (w *World) wait(id int32, s stack.Step) {
	c := &w.calls[id]
	if !s.Ticket.IsZero() {
		g := &w.guards[c.guard]
		for s.Ticket.Slot() >= len(g.waiters) {
			g.waiters = append(g.waiters, none)
		}
		g.waiters[s.Ticket.Slot()] = id
	}
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

// land takes in the answer of an attempt.
func (w *World) land(vid int32) {
	v := &w.visits[vid]
	if v.ticket.IsZero() { // given up as dead before
		w.dropVisit(vid)
		return
	}
	id := v.from.id
	c := &w.calls[id]
	if c.gen != v.from.gen || !c.takeOff(vid) {
		w.bury(vid)
		return
	}
	g, m := &w.guards[c.guard], &w.m.Guards[w.guards[c.guard].of]
	ticket, a := v.ticket, v.answer
	r := w.owned(c, m.report(a))
	if m.Inline {
		w.dropVisit(vid)
		c.last = a
		g.stack.Settle(w.now, &c.Call, ticket, r)
		w.follow(id, w.next(g, c))
		return
	}
	counts := g.stack.Judge(w.now, &c.Call, ticket, r)
	s := w.next(g, c)
	if !counts { // its time was up before
		w.bury(vid)
		s = w.again(id)
	} else {
		w.dropVisit(vid)
		c.last = a
		g.stack.Free(w.now, ticket, r.Outcome)
		w.unlock(c.guard)
	}
	w.follow(id, s)
}

// report is what a caller makes of an answer: kalan's default classification,
// and that of HTTP for those that were refused.
func (g *Guard) report(a answer) policy.Report {
	switch {
	case a.result == OK:
		return policy.Report{Outcome: policy.Success}
	case a.result == Business && !g.Blame:
		return policy.Report{Outcome: policy.Ignored}
	case a.why == policy.Rate: // 429
		return policy.Report{Outcome: policy.Ignored, RetryAfter: a.retryAfter}
	}
	return policy.Report{Outcome: policy.Failure, RetryAfter: a.retryAfter}
}

// owned lets a failure at or after the caller's own deadline be the caller's.
func (w *World) owned(c *call, r policy.Report) policy.Report {
	if r.Outcome == policy.Failure && w.now >= c.Ask.Deadline {
		r.Outcome = policy.Cut
	}
	return r
}

// bury ends an attempt that nobody waits for; what it says of the dependency
// is still news.
func (w *World) bury(vid int32) {
	v := &w.visits[vid]
	gi, ticket := v.guard, v.ticket
	said := w.m.Guards[w.guards[gi].of].report(v.answer).Outcome
	w.dropVisit(vid)
	w.guards[gi].stack.Free(w.now, ticket, said)
	w.unlock(gi)
}

func (c *call) takeOff(vid int32) bool {
	for i := range c.outs {
		if c.out[i] == vid {
			c.outs--
			c.out[i] = c.out[c.outs]
			return true
		}
	}
	return false
}

// leaveOverdue leaves the attempts that the stack has judged at their limit.
func (w *World) leaveOverdue(id int32) {
	c := &w.calls[id]
	for i := int(c.outs) - 1; i >= 0 && i < int(c.outs); i-- {
		if vid := c.out[i]; w.now >= w.visits[vid].until {
			c.takeOff(vid)
			w.leave(vid)
		}
	}
}

// leave lets an attempt go on without its caller: until it is answered, or
// given up as dead. One that stops when its caller leaves is cut at once.
func (w *World) leave(vid int32) {
	v := &w.visits[vid]
	v.gone = true
	switch m := &w.m.Guards[w.guards[v.guard].of]; {
	case m.Config.Cancels:
		w.push(w.now, cuts, vid, v.gen)
	case v.bound != policy.Never:
		w.push(v.bound, presumed, vid, v.gen)
	}
}

// cutOff gives back the slot of an attempt that nobody waits for any more, and
// tells the service so.
func (w *World) cutOff(e *agenda.Event, o policy.Outcome) {
	v := &w.visits[e.A]
	if v.gen != e.Gen || v.ticket.IsZero() {
		return
	}
	gi, ticket := v.guard, v.ticket
	v.ticket = stack.Ticket{}
	w.guards[gi].stack.Free(w.now, ticket, o)
	w.unlock(gi)
	w.abandon(e.A)
}

// giveUpInline ends an attempt at its limit whose caller runs it itself: the
// function returns because its context has ended.
func (w *World) giveUpInline(id int32) {
	c := &w.calls[id]
	vid := c.out[0]
	v := &w.visits[vid]
	ticket := v.ticket
	c.takeOff(vid)
	v.gone, v.ticket = true, stack.Ticket{}
	c.last = answer{result: Failed, why: policy.Timeout}
	r := policy.Report{Outcome: policy.Failure}
	if c.left || w.now >= c.Ask.Deadline {
		r.Outcome = policy.Cut
	}
	g := &w.guards[c.guard]
	g.stack.Settle(w.now, &c.Call, ticket, r)
	s := w.next(g, c)
	w.abandon(vid)
	w.follow(id, s)
}

// hangUp ends a call: what it has left behind goes on alone, and its caller
// gets the answer.
func (w *World) hangUp(id int32) {
	c := &w.calls[id]
	for c.outs > 0 {
		vid := c.out[c.outs-1]
		c.takeOff(vid)
		w.leave(vid)
	}
	a := w.outcome(c)
	w.tally.hungUp(c.edge, c, a)
	r, from := c.request, c.from
	if from.kind == fromVisit && w.visits[from.id].gen == from.gen {
		w.forget(from.id, id)
	}
	w.dropCall(id)
	if from.kind == fromLoad {
		w.served(&r, from.id, a)
		return
	}
	if w.visits[from.id].gen == from.gen {
		w.answered(from.id, a)
	}
}

// outcome is what the caller of a call gets: kalan's answer.
func (w *World) outcome(c *call) answer {
	switch why := c.Why(); why {
	case policy.None:
		return c.last
	case policy.Timeout:
		return answer{result: Failed, why: why}
	case policy.Spent, policy.Budget:
		if c.TimedOut() {
			return answer{result: Failed, why: policy.Timeout}
		}
		return c.last
	case policy.Expired, policy.Gone:
		return answer{result: Failed, why: why}
	default:
		a := answer{result: Refused, why: why}
		if at := c.RetryAt(); at > w.now && at != policy.Never {
			a.retryAfter = at.Sub(w.now)
		}
		return a
	}
}

// forget takes a call out of its visit's list.
func (w *World) forget(vid, id int32) {
	at := &w.visits[vid].calls
	for *at != id {
		at = &w.calls[*at].next
	}
	*at = w.calls[id].next
}

// abandon tells a service that a visit's caller has left. One that cares stops
// the work.
func (w *World) abandon(vid int32) {
	v := &w.visits[vid]
	v.gone = true
	service := w.m.Edges[v.edge].Service
	if !w.m.Services[service].Cancels || v.instance == none {
		return
	}
	in := &w.instances[v.instance]
	switch v.state {
	case queued:
		w.dequeue(in, vid)
		in.change(w.now, -1, &w.tally.Services[service])
		w.dropVisit(vid)
	case serving:
		w.stop(vid)
	}
}

// stop ends a visit in the middle of its work, and the calls that it makes.
func (w *World) stop(vid int32) {
	v := &w.visits[vid]
	i := v.instance
	in := &w.instances[i]
	if v.work > 0 {
		w.tally.worked(in.service, min(v.work, w.now.Sub(v.since)), true)
		if in.shared != nil {
			w.leaveCrowd(in, vid)
		}
	}
	switch {
	case w.m.Ops[v.pc].Kind == Look:
		w.leaveCache(vid)
	case v.loads > 0:
		w.giveUp(vid, answer{result: Failed})
	}
	for id := w.visits[vid].calls; id != none; id = w.calls[id].next {
		w.push(w.now, leaves, id, w.calls[id].gen)
	}
	w.release(in)
	w.dropVisit(vid)
	w.serveNext(i)
}
