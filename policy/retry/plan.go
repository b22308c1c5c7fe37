package retry

import (
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/budget"
)

// A Plan says how the calls of one dependency are retried. It is never changed
// after New, so calls may share it freely.
type Plan struct {
	config Config
}

// New returns a plan; zero fields of c mean their defaults.
func New(c Config) *Plan { return &Plan{c.WithDefaults()} }

// A Move is what a driver is to do next.
type Move uint8

const (
	// Launch: start an attempt now, and say so with Launched.
	Launch Move = iota
	// Wait: ask again at the instant, or when something has happened.
	Wait
	// Stop: there will be no further attempt.
	Stop
)

// Begin returns a new call. Nothing is launched at or after the deadline
// (policy.Never: there is none); the seed decides the jitter.
func (p *Plan) Begin(deadline policy.Instant, seed uint64) Call {
	return Call{Deadline: deadline, seed: seed}
}

// Next says what to do: Launch, Wait until the instant, or Stop. Asking again
// changes nothing. While an attempt runs the answer is Wait, Never.
//
// The first attempt is counted in b when its launch is first asked for, a retry
// already when it was decided.
func (p *Plan) Next(now policy.Instant, c *Call, b *budget.Budget) (Move, policy.Instant) {
	switch c.state {
	case stopped:
		return Stop, policy.Never
	case running:
		return p.hedge(now, c, b)
	}
	if now >= c.Deadline {
		p.Cancel(now, c, policy.Expired, b)
		return Stop, policy.Never
	}
	switch {
	case c.state == waiting && now < c.at:
		return Wait, c.at
	case c.state == fresh:
		c.mark = b.Call(now)
	}
	c.state = ready
	return Launch, now
}

// Launched says that the attempt which Next asked for has been started, and
// hands over what it holds of the budget: give it to End when the attempt has
// really ended, which may be long after its call. Without such a launch it
// returns the zero Mark and changes nothing.
func (p *Plan) Launched(c *Call) budget.Mark {
	if c.state != ready {
		return budget.Mark{}
	}
	m := c.mark
	c.mark = budget.Mark{}
	c.state, c.at = running, policy.Never
	c.attempts++
	c.flying++
	return m
}

// Refused says that an inner gate refused the attempt before it reached the
// dependency. No attempt is spent, the budget is given back, and the call
// stops with why: the same gate would refuse again (F19).
//
// It may follow Launch, or Launched if the gates come after it; then the mark
// that Launched returned is its holder's to Undo.
func (p *Plan) Refused(now policy.Instant, c *Call, why policy.Reason, b *budget.Budget) {
	switch {
	case c.state == running:
		c.attempts--
		c.flying--
		c.giveUp(why)
	case c.state == ready && c.flying > 0:
		b.Undo(now, &c.mark)
		c.giveUp(why)
	case c.state == ready:
		p.Cancel(now, c, why, b)
	}
}

// Settle says how the running attempt ended, and decides at once whether there
// will be another; the package comment has the rules. Why is the reason that
// Kalan itself ended the attempt for (policy.Timeout), None when it was not
// Kalan; it becomes the call's reason when the attempt's failure is final.
//
// Outcomes are told to b by whoever knows of all attempts (Budget.Heard), also
// of those that outlive their call; Settle does not do it.
func (p *Plan) Settle(now policy.Instant, c *Call, r policy.Report, why policy.Reason, b *budget.Budget) {
	if c.flying == 0 || c.state == stopped {
		return
	}
	c.flying--
	if c.state == ready { // a hedge that was allowed and comes too late
		b.Undo(now, &c.mark)
		c.state = running
	}
	if final, why := verdict(r, why); final {
		c.stop(why)
		return
	}
	switch {
	case c.flying > 0: // its hedge may still answer
		return
	case int(c.attempts) >= p.config.Attempts:
		c.stop(policy.Spent)
		return
	}
	p.retry(now, c, r, why, b)
}

// verdict reports whether a call may not go on after such an attempt, and why.
func verdict(r policy.Report, why policy.Reason) (bool, policy.Reason) {
	switch r.Outcome {
	case policy.Success:
		return true, policy.None
	case policy.Ignored:
		return r.Final || r.RetryAfter <= 0, policy.None
	case policy.Failure:
		return r.Final, why
	}
	return true, why // Cut: nobody waits for another attempt
}

// retry decides whether the next attempt fits the deadline, the cap and the
// budget, in this order: what cannot happen must not take from the budget.
func (p *Plan) retry(now policy.Instant, c *Call, r policy.Report, why policy.Reason, b *budget.Budget) {
	backoff := p.config.Wait(int(c.attempts)-1, c.last, c.seed)
	at := now.Add(max(backoff, r.RetryAfter))
	if at >= c.Deadline {
		c.stop(policy.Expired)
		return
	}
	if r.RetryAfter > p.config.Cap {
		c.stop(why)
		return
	}
	mark, ok := b.Retry(now)
	if !ok {
		c.stop(policy.Budget)
		return
	}
	c.mark, c.last, c.at, c.state = mark, backoff, at, waiting
}

// Cancel stops the call for the reason, unless it has stopped already. A retry
// that has not been launched is given back to b; an attempt that runs keeps
// what it holds until its owner ends it.
func (p *Plan) Cancel(now policy.Instant, c *Call, why policy.Reason, b *budget.Budget) {
	if c.state == stopped {
		return
	}
	b.Undo(now, &c.mark)
	c.stop(why)
}
