package stack

import (
	"time"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/limit"
)

// Judge tells an attempt's result while its slot stays occupied: by a body
// that is still being read, or by a dependency that still works for a caller
// who has left. A failure reaches the breaker now, a success when the slot
// comes free. It reports whether the attempt was still its call's: one that was
// left, or whose time was up before, has been judged already.
func (s *Stack) Judge(now policy.Instant, c *Call, t Ticket, r policy.Report) bool {
	s.advance(now)
	sl := s.at(t)
	counts := sl != nil && sl.state == running
	if counts {
		s.judge(c, t, sl, r)
	}
	s.dispatch()
	return counts
}

// Free tells that an attempt has really ended and gives its slot back. It
// needs no Call, since a ghost outlives its own. The outcome is that of the
// end: a body that broke is a failure, one that nobody read to its end is cut.
func (s *Stack) Free(now policy.Instant, t Ticket, o policy.Outcome) {
	s.advance(now)
	if sl := s.at(t); sl != nil {
		s.release(t.slot, sl, o)
	}
	s.dispatch()
}

// Settle is Judge and Free in one: the attempt returned and left nothing
// behind.
func (s *Stack) Settle(now policy.Instant, c *Call, t Ticket, r policy.Report) {
	s.advance(now)
	if sl := s.at(t); sl != nil {
		s.judge(c, t, sl, r)
		s.release(t.slot, sl, r.Outcome)
	}
	s.dispatch()
}

// judge ends a running attempt for its call and lets the plan decide what
// follows. The slot stays occupied.
func (s *Stack) judge(c *Call, t Ticket, sl *slot, r policy.Report) {
	switch {
	case sl.state != running:
		return
	case r.Outcome == policy.Cut:
		s.abandon(c)
		return
	}
	sl.state, sl.refused = kept, r.Refused
	c.takeOff(t)
	why := policy.None
	if r.Outcome == policy.Failure {
		why = s.failed(sl)
	}
	c.timedOut = why == policy.Timeout
	if c.over {
		return
	}
	r.Final = r.Final || c.Ask.Once || c.Ask.Unsafe && why == policy.Timeout
	s.plan.Settle(s.now, &c.plan, r, why, s.budget)
	if c.plan.Stopped() {
		if c.running > 0 {
			s.outrun(c)
		}
		s.finish(c, c.plan.Why())
	}
}

// failed tells the breaker of a failure and returns why it failed, as far as
// the stack knows: because the attempt's own time limit had passed.
func (s *Stack) failed(sl *slot) policy.Reason {
	s.hear(sl, policy.Failure)
	if sl.callers || s.now < sl.until {
		return policy.None
	}
	s.counts.Timeouts++
	return policy.Timeout
}

// abandon ends the call because its caller left: what waits is undone, what
// runs becomes a ghost.
func (s *Stack) abandon(c *Call) {
	if c.over {
		return
	}
	why := policy.Gone
	if s.now >= c.Ask.Deadline {
		why = policy.Expired
	}
	s.plan.Cancel(s.now, &c.plan, why, s.budget)
	s.leavePlace(c)
	for c.running > 0 {
		s.haunt(c, c.flight[0], why == policy.Expired)
	}
	s.finish(c, why)
}

// haunt leaves a running attempt behind: it is no longer its call's, it keeps
// its slot, and its own clock goes on deciding for the breaker.
func (s *Stack) haunt(c *Call, t Ticket, expired bool) {
	c.takeOff(t)
	if sl := s.at(t); sl != nil && sl.state == running {
		sl.state, sl.late, sl.callers = kept, expired, sl.callers && expired
		s.counts.Left++
	}
}

// outrun makes losers of the attempts that still run when their call is over:
// what they say from now on is no news about this call, and their failures are
// those of being cancelled.
func (s *Stack) outrun(c *Call) {
	for c.running > 0 {
		t := c.flight[0]
		c.takeOff(t)
		if sl := s.at(t); sl != nil && sl.state == running {
			sl.state, sl.loser = kept, true
		}
	}
}

// overdue judges the call's attempts whose time is up and returns when the
// next one's is. They keep their slots: the function has not returned.
func (s *Stack) overdue(c *Call) policy.Instant {
	next := policy.Never
	for i := int(c.running) - 1; i >= 0 && i < int(c.running); i-- {
		t := c.flight[i]
		switch sl := s.at(t); {
		case sl == nil:
			c.takeOff(t)
		case s.now < sl.until:
			next = min(next, sl.until)
		case sl.callers:
			s.abandon(c)
		default:
			s.judge(c, t, sl, policy.Report{Outcome: policy.Failure})
		}
	}
	return next
}

// hear tells the breaker and the budget how an attempt ended, once.
func (s *Stack) hear(sl *slot, o policy.Outcome) {
	if sl.told {
		return
	}
	sl.told = true
	s.unwatch(sl)
	ran := s.ran(sl)
	switch {
	case o == policy.Cut && !sl.excused && s.ranOut(sl) && !s.hasty(ran):
		s.breaker.Overdue(s.now, &sl.pass)
	case o == policy.Success || o == policy.Failure:
		s.budget.Heard(o == policy.Success)
	}
	heard := o
	if s.throttle != nil {
		heard = s.shared(sl, o)
	}
	s.breaker.Settle(s.now, &sl.pass, heard, ran)
	if to := s.breaker.Look(s.now); to != s.seen {
		s.breakerMoved(s.now, to)
	}
	s.counts.Outcomes[o]++
	s.journal.settled(s.now, o, ran)
}

// shared tells the throttle how an attempt ended, and returns what the breaker
// is to make of it: where the throttle deals with refusals, one is an answer, or
// the breaker would refuse everybody for the share that the throttle leaves over.
func (s *Stack) shared(sl *slot, o policy.Outcome) policy.Outcome {
	s.throttle.Settle(s.now, &sl.asked, o, sl.refused)
	if s.shares && sl.refused && o == policy.Failure {
		return policy.Success
	}
	return o
}

// ran is how long an attempt has been running. Neither instant lies before 0, so
// that nothing overflows.
func (s *Stack) ran(sl *slot) time.Duration { return time.Duration(s.now - sl.started) }

// ranOut reports whether an attempt that is cut off now is cut by its caller's
// deadline: by that of a caller who has left, or who still reads the answer.
func (s *Stack) ranOut(sl *slot) bool {
	return sl.late || sl.callers && s.now >= sl.until
}

// release gives the slot back and tells everyone who has an interest in how
// long it was held. Only an answer says how long the dependency takes: a
// timeout is a loss, never a new normal, and a quick error is no quick service.
func (s *Stack) release(id int32, sl *slot, o policy.Outcome) {
	if sl.state != running && sl.state != kept {
		return
	}
	if sl.excused || sl.loser && o == policy.Failure {
		o = policy.Cut
	}
	s.hear(sl, o)
	if (o == policy.Success || o == policy.Ignored) && !sl.refused {
		ran := s.ran(sl)
		s.latency.Add(ran)
		s.routeOf(sl.route).add(s.now, ran)
		if sl.left > 0 && ran >= sl.left {
			s.counts.Wasted++
		}
	}
	if s.now >= sl.bound {
		s.counts.Presumed++
	}
	if sl.reserve {
		s.reserve = false
	}
	s.limit.Give(s.now, &sl.token, limit.Sample{
		Outcome: o, Late: !sl.excused && s.ended(sl) && s.tooLate(o), Refused: sl.refused, Remaining: sl.left,
	})
	s.journal.sized(s.now, s.limit.Max())
	s.budget.End(s.now, &sl.mark)
	s.drop(id, sl)
}

// ended reports whether an attempt's time was up before it came back.
func (s *Stack) ended(sl *slot) bool { return sl.late || s.now >= sl.until }

// tooLate reports whether the limit is to hear of an attempt whose time was up
// that it was too late. One that was never answered, while the breaker has begun
// to suspect that nothing is, is the breaker's evidence alone: a limit that
// shrinks at every hang would leave too few attempts to prove it by.
func (s *Stack) tooLate(o policy.Outcome) bool {
	answered := o == policy.Success || o == policy.Ignored
	return answered || s.breaker.Snapshot(s.now).Score == 0
}
