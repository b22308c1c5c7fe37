package world

import (
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/stack"
	"github.com/kalan-go/kalan/sim/internal/agenda"
)

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
	if !m.Inline {
		counts := g.stack.Judge(w.now, &c.Call, ticket, r)
		w.unlock(c.guard)
		if !counts { // its time was up before
			w.bury(vid)
			w.follow(id, w.again(id))
			return
		}
	}
	c.last = a
	w.dropVisit(vid)
	if a.result == OK && !m.Inline { // the answer is held, and read at once
		g.stack.Free(w.now, ticket, r.Outcome)
		w.unlock(c.guard)
		w.hangUp(id)
		return
	}
	g.stack.Settle(w.now, &c.Call, ticket, r)
	w.follow(id, w.next(id))
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
		return policy.Report{Outcome: policy.Ignored, Refused: true, RetryAfter: a.retryAfter}
	}
	return policy.Report{Outcome: policy.Failure, Refused: a.result == Refused, RetryAfter: a.retryAfter}
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
	s := w.next(id)
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
