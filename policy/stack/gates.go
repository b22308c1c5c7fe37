package stack

import (
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/bucket"
	"github.com/kalan-go/kalan/policy/room"
	"github.com/kalan-go/kalan/policy/span"
	"github.com/kalan-go/kalan/policy/throttle"
)

// offer takes the attempt that the plan has launched through the gates:
// breaker, throttle, rate, then a slot or a place to wait for one.
func (s *Stack) offer(c *Call) Step {
	pass, ok := s.breaker.Admit(s.now)
	if !ok {
		return s.refuse(c, policy.Open, s.breaker.RetryAt(s.now))
	}
	var asked throttle.Mark
	if s.throttle != nil && !pass.Probe() { // a probe asks for everybody
		lot := ^c.Ask.Seed + uint64(c.plan.Attempts()) // another for each attempt, and none that its jitter draws
		if asked, ok = s.throttle.Admit(s.now, c.Ask.Level, lot); !ok {
			s.breaker.Undo(s.now, &pass)
			return s.refuse(c, policy.Throttled, s.fewer(c))
		}
	}
	var drawn bucket.Mark
	if s.rate != nil {
		if drawn, ok = s.rate.Take(s.now, 1); !ok {
			s.breaker.Undo(s.now, &pass)
			return s.refuse(c, policy.Rate, s.rate.RetryAt(s.now, 1))
		}
	}
	id, sl := s.take(waiting)
	sl.pass, sl.asked, sl.drawn, sl.moves = pass, asked, drawn, s.moves
	if s.room.Len() == 0 && s.limit.Free() || s.borrowReserve(sl) {
		if !pass.Probe() && s.hopeless(c) {
			s.counts.Hopeless++
			if !s.cfg.Observe {
				s.withdraw(id)
				return s.refuse(c, policy.Expired, 0)
			}
		}
		s.grant(sl)
		return s.start(c, id, sl)
	}
	if pass.Probe() && !s.lenient {
		s.withdraw(id)
		return s.refuse(c, policy.Open, s.soon())
	}
	if c.running > 0 { // a hedge is extra load: it never waits for a slot
		s.withdraw(id)
		return s.refuse(c, policy.Full, 0)
	}
	return s.queue(c, id)
}

// fewer draws when a caller that the throttle refused may come back.
func (s *Stack) fewer(c *Call) policy.Instant {
	return s.now.Add(s.throttle.RetryAfter(s.now, c.Ask.Level, policy.Draw(c.Ask.Seed)))
}

// borrowReserve gives a probe the one slot that ghosts cannot take.
func (s *Stack) borrowReserve(sl *slot) bool {
	if !sl.pass.Probe() || s.reserve || s.lenient {
		return false
	}
	s.reserve, sl.reserve = true, true
	return true
}

// soon is when to come back to a breaker that has places for probes and a limit
// that has none. The breaker's own answer would be now, which is no answer.
func (s *Stack) soon() policy.Instant {
	return s.now.Add(min(s.breaker.SlowAfter(), s.cfg.Breaker.Open/10))
}

// queue asks the room for a place to wait.
func (s *Stack) queue(c *Call, id int32) Step {
	verdict := room.Verdict{Reason: policy.Full, Out: none}
	if s.cfg.Checkout > 0 {
		verdict = s.room.Offer(s.now, id, room.Item{
			Until: s.now.Add(s.cfg.Checkout), Deadline: c.Ask.Deadline,
			Need:  s.expected(c, s.limit.Max()),
			Level: c.Ask.Level, Flow: c.Ask.Flow, Weight: c.Ask.Weight,
		})
	}
	if verdict.Out != none {
		s.turnAway(verdict.Out, verdict.OutWhy)
	}
	if verdict.Reason != policy.None {
		s.withdraw(id)
		return s.refuse(c, verdict.Reason, s.comeBack(c))
	}
	c.waiting = s.ticket(id)
	s.slots[id].until, _ = s.room.End(id)
	return Step{Kind: Wait, Ticket: c.waiting, Until: s.slots[id].until}
}

// place deals with the attempt that waits for its slot: start it when it was
// granted, end the call when it was refused, wait on otherwise. It reports
// whether that is all there is to say.
func (s *Stack) place(c *Call) (Step, bool) {
	sl := s.at(c.waiting)
	if sl == nil {
		return Step{}, false
	}
	id := c.waiting.slot
	switch {
	case sl.state == granted && sl.moves != s.moves:
		// Granted before the breaker tripped, looked at after: nothing starts
		// on the word of an older state.
		s.leavePlace(c)
		return s.refuse(c, policy.Open, s.breaker.RetryAt(s.now)), true
	case sl.state == granted && s.now >= c.Ask.Deadline:
		// Granted in time and looked at too late, after a pause of the process:
		// nobody waits for the answer any more (F23, O-19).
		s.leavePlace(c)
		return s.refuse(c, policy.Expired, s.comeBack(c)), true
	case sl.state == granted:
		return s.start(c, id, sl), true
	case sl.state == refused:
		why, at := sl.why, s.comeBack(c)
		if why == policy.Open {
			at = s.breaker.RetryAt(s.now)
		}
		s.unwake(id)
		s.drop(id, sl)
		return s.refuse(c, why, at), true
	case s.now >= sl.until:
		_, why := s.room.End(id)
		s.leavePlace(c)
		return s.refuse(c, why, s.comeBack(c)), true
	}
	return Step{Kind: Wait, Ticket: c.waiting, Until: min(sl.until, s.overdue(c))}, true
}

// leavePlace takes the call's waiting attempt out of the room, or gives back
// the slot that it was granted and never used.
func (s *Stack) leavePlace(c *Call) {
	sl := s.at(c.waiting)
	if sl == nil {
		return
	}
	id := c.waiting.slot
	c.waiting = Ticket{}
	switch sl.state {
	case waiting:
		s.room.Leave(s.now, id)
		s.withdraw(id)
	case granted:
		s.limit.Undo(s.now, &sl.token)
		s.withdraw(id)
		s.dispatch()
	case refused:
		s.unwake(id)
		s.drop(id, sl)
	}
}

// withdraw undoes the outer gates of an attempt that never started: as if it
// had never been.
func (s *Stack) withdraw(id int32) {
	sl := &s.slots[id]
	s.unwake(id)
	s.undo(sl)
	s.drop(id, sl)
}

func (s *Stack) undo(sl *slot) {
	s.breaker.Undo(s.now, &sl.pass)
	if s.throttle != nil {
		s.throttle.Undo(s.now, &sl.asked)
	}
	if s.rate != nil {
		s.rate.Undo(s.now, &sl.drawn)
	}
}

// turnAway refuses a waiting attempt that its owner does not yet know of.
func (s *Stack) turnAway(id int32, why policy.Reason) {
	sl := &s.slots[id]
	s.undo(sl)
	sl.state, sl.why = refused, why
	s.wake(id)
}

// refuse ends the call: the launch is undone, and no inner refusal is retried.
// A refused hedge ends nothing: its call has an attempt out.
func (s *Stack) refuse(c *Call, why policy.Reason, at policy.Instant) Step {
	c.waiting = Ticket{}
	s.plan.Refused(s.now, &c.plan, why, s.budget)
	if c.running > 0 {
		return Step{Kind: Wait, Until: s.overdue(c)}
	}
	c.retryAt = at
	s.limit.Refused(s.now, why)
	s.finish(c, why)
	return Step{Kind: Done}
}

// comeBack draws when a caller that the room refused may come back.
func (s *Stack) comeBack(c *Call) policy.Instant {
	return s.now.Add(s.room.RetryAfter(s.now, policy.Draw(c.Ask.Seed)))
}

// grant gives a slot to an attempt.
func (s *Stack) grant(sl *slot) {
	sl.state = granted
	sl.token = s.limit.Take(s.now)
}

// dispatch hands free slots to those who wait. After every verb nobody waits
// while a slot is free.
func (s *Stack) dispatch() {
	if s.room.Len() > 0 { // hardly ever, and small enough to be inlined
		s.handOut()
	}
}

func (s *Stack) handOut() {
	for s.limit.Free() && s.room.Len() > 0 {
		id, why, ok := s.room.Next(s.now)
		switch {
		case !ok:
			return
		case why != policy.None:
			s.turnAway(id, why)
		default:
			s.grant(&s.slots[id])
			s.wake(id)
		}
	}
}

// clearRoom refuses everybody who waits behind a breaker that has tripped.
func (s *Stack) clearRoom() {
	for {
		id, ok := s.room.Evict(s.now)
		if !ok {
			return
		}
		s.turnAway(id, policy.Open)
	}
}

// start runs a granted attempt.
func (s *Stack) start(c *Call, id int32, sl *slot) Step {
	if sl.woken {
		s.unwake(id)
	}
	c.waiting = Ticket{}
	sl.state = running
	sl.started, sl.route = s.now, c.Ask.Route
	if c.Ask.Deadline != policy.Never {
		sl.left = c.Ask.Deadline.Sub(s.now)
	}
	sl.mark = s.plan.Launched(&c.plan)
	sl.until, sl.bound, sl.callers = policy.Never, policy.Never, false
	if s.cfg.Exchange > 0 {
		sl.until, sl.bound = s.now.Add(s.cfg.Exchange), s.bound()
	}
	if c.Ask.Deadline <= sl.until {
		sl.until, sl.callers = c.Ask.Deadline, true
	}
	if s.cfg.Cancels {
		sl.bound = sl.until
	}
	s.watchOver(id, sl)
	t := Ticket{id, sl.gen}
	c.putOn(t)
	if c.Ask.Hedge && !c.Ask.Once && !c.Ask.Unsafe {
		s.plan.HedgeAt(&c.plan, s.now.Add(s.hedgeDelay()))
	}
	n := c.plan.Attempts()
	s.counts.Started++
	if n > 1 {
		s.counts.Retries++
	}
	s.journal.started(s.now, n)
	return Step{Kind: Start, Ticket: t, Until: sl.until, Bound: sl.bound}
}

// bound is how long a left attempt may hold its slot: until the exchange limit
// and one expected service time have passed, the dependency is presumed dead
// after that. One that stops when its caller leaves leaves no ghost.
func (s *Stack) bound() policy.Instant {
	return s.now.Add(span.Add(s.cfg.Exchange, s.latency.Mean()))
}

// finish ends the call and counts why.
func (s *Stack) finish(c *Call, why policy.Reason) {
	if c.over {
		return
	}
	c.end(why)
	if why != policy.None {
		s.counts.Refused[why]++
		s.journal.refused(s.now, why)
	}
}
