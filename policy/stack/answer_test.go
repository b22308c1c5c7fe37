package stack_test

import (
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/breaker"
	"github.com/kalan-go/kalan/policy/stack"
)

// judgeStep holds one answer of Next to the invariants 8 and 12.
func (w *walk) judgeStep(c *caller, step stack.Step) {
	now, deadline := w.s.Now(), c.call.Ask.Deadline
	if c.done && step.Kind != stack.Done {
		w.fail("%v after done", step.Kind)
	}
	switch step.Kind {
	case stack.Done:
		c.done = true
		if !c.call.Over() || c.call.Running() > 0 {
			w.fail("done, and not over, or with %d attempts of its own", c.call.Running())
		}
	case stack.Wait:
		w.judgeWait(c, step)
	case stack.Start:
		if _, waited := w.offered[step.Ticket]; !waited {
			w.admit(step.Ticket)
		}
		w.drawn = append(w.drawn, w.offered[step.Ticket])
		w.started++
		w.attempts = append(w.attempts, &attempt{step.Ticket, c, c.call.Attempts(), w.admitted[step.Ticket]})
		b := w.s.Snapshot(w.now).Breaker
		switch {
		case now >= deadline || now >= step.Until:
			w.fail("started at %v for a caller that left at %v", now, deadline)
		case b.Generation != w.admitted[step.Ticket] && !w.lenient() && !(w.changed && b.State == breaker.Closed):
			w.fail("started in generation %d on the word of %d", b.Generation, w.admitted[step.Ticket])
		case c.call.Attempts() > w.cfg.Retry.Attempts || c.call.Running() > 3:
			w.fail("attempt %d of %d, %d running", c.call.Attempts(), w.cfg.Retry.Attempts, c.call.Running())
		case c.call.Attempts() > 1 && (c.call.Ask.Once || c.call.Ask.Unsafe && (c.call.TimedOut() || c.call.Running() > 1)):
			w.fail("attempt %d of what may not be repeated: %+v", c.call.Attempts(), c.call.Ask)
		case step.Bound < step.Until && step.Until < deadline:
			w.fail("presumed dead at %v, before its own limit %v", step.Bound, step.Until)
		}
	}
}

func (w *walk) judgeWait(c *caller, step stack.Step) {
	now, deadline := w.s.Now(), c.call.Ask.Deadline
	if _, known := w.offered[step.Ticket]; !known && !step.Ticket.IsZero() {
		w.admit(step.Ticket)
	}
	st := w.s.StateOf(step.Ticket)
	switch {
	case step.Until <= now:
		w.fail("waits until %v, and it is %v", step.Until, now)
	case step.Until > deadline:
		w.fail("waits until %v, beyond the deadline %v", step.Until, deadline)
	case step.Ticket.IsZero() && c.call.Running() == 0 && step.Until >= deadline:
		w.fail("backs off until %v, and the deadline is %v", step.Until, deadline)
	case !step.Ticket.IsZero() && st != stack.Waiting:
		w.fail("waits for a slot, and is %v", st)
	}
}

func (w *walk) admit(t stack.Ticket) {
	w.names[t] = len(w.names) + 1
	w.admitted[t], w.offered[t] = w.s.Snapshot(w.now).Breaker.Generation, w.s.Now()
}

// askAgain: invariant 5, asking again at the same instant changes nothing.
func (w *walk) askAgain(c *caller, first stack.Step) {
	books := w.s.Books()
	again := w.s.Next(w.now, &c.call)
	w.check()
	if again != first {
		w.fail("said %+v, and asked again %+v", first, again)
	}
	w.same(books, w.s.Books(), "asking again")
}

// booksNow returns the accounts after the time that has passed was taken in.
func (w *walk) booksNow() stack.Books {
	w.s.Look(w.now)
	w.check()
	return w.s.Books()
}

func (w *walk) same(before, after stack.Books, what string) {
	if before != after {
		w.fail("%s changed\n%+v\ninto\n%+v", what, before, after)
	}
}

// spentNothing: invariant 7, a refusal at once leaves everything as it was. One by
// the throttle was asked for, and is counted as that, at one level.
func (w *walk) spentNothing(before stack.Books, c *caller) {
	after := w.s.Books()
	if c.call.Why() == policy.Throttled {
		level := c.call.Ask.Level
		before.Throttle.Levels[level].Requests++
		before.Throttle.Levels[level].Share = after.Throttle.Levels[level].Share
	}
	w.same(before, after, "a refusal")
}

// lateNews: invariant 9, what another generation admitted changes no field of
// the breaker.
func (w *walk) lateNews(a *attempt, before breaker.Snapshot) {
	after := w.s.Books().Breaker
	if a.generation != before.Generation && after != before && !w.lenient() {
		w.fail("news of generation %d changed\n%+v\ninto\n%+v", a.generation, before, after)
	}
}

// judgedAlone: Judge keeps the slot, tells the breaker of failures alone, and
// knows whose the attempt is.
func (w *walk) judgedAlone(a *attempt, r policy.Report, was stack.State, counts bool, before stack.Books) {
	after := w.s.Books()
	switch {
	case counts != (was == stack.Running):
		w.fail("a %v attempt was its call's: %v", was, counts)
	case w.s.StateOf(a.ticket) != stack.Kept:
		w.fail("judged, and %v", w.s.StateOf(a.ticket))
	case counts && r.Outcome == policy.Failure && w.s.Untold(a.ticket):
		w.fail("a failure waits for its slot to come free before the breaker hears of it")
	case r.Outcome != policy.Failure && before.Breaker != after.Breaker:
		w.fail("a %v judged changed the breaker before its slot came free\n%+v\n%+v", r.Outcome, before.Breaker, after.Breaker)
	case !counts:
		w.same(before, after, "judging an attempt that is nobody's")
	}
}
