package kalan

import (
	"context"

	"github.com/kalan-go/kalan/internal/carry"
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/stack"
)

// Do runs fn behind the guard and returns what it returns, or a [*Rejection].
//
// fn runs on the caller's goroutine, several times one after the other when it
// fails and a retry is allowed, so it must be safe to repeat; one that is not
// reports Final through Config.Classify. Its context ends at the attempt's
// limit or at the caller's, whichever is sooner. Do returns when fn returns: a
// function that ignores its context holds up its caller ([Hold] can leave one
// behind).
//
// On behalf of a request that another layer repeats, which kalanhttp and the
// adapters carry in its context, nothing is repeated here. The rest of what the
// request asked, such as its level, is for [Hold].
//
// A panic or a Goexit in fn frees the slot and reaches the caller; it says
// nothing about the dependency.
func Do[T any](ctx context.Context, g *Guard, fn func(context.Context) (T, error)) (T, error) {
	d := doing{guard: g}
	defer d.end()
	var value T
	var err error
	for s := g.begin(ctx, &d.call); ; {
		switch s.Kind {
		case stack.Start:
			value, err = fn(d.start(ctx, s))
			s = d.settle(ctx, err)
		case stack.Wait:
			s = g.sleep(ctx, &d.call, s)
		default:
			return value, g.answer(ctx, &d.call, err)
		}
	}
}

// doing is one call of Do, and the attempt of it that is out, if one is.
type doing struct {
	call
	guard   *Guard
	out     stack.Ticket
	limited *attemptContext // nil: the attempt has its caller's context
}

// start returns the context that the attempt is to have.
func (d *doing) start(ctx context.Context, s stack.Step) context.Context {
	d.out = s.Ticket
	if d.asItsCaller(s) {
		return ctx
	}
	d.limited = d.guard.limited(ctx, &d.call, s)
	return d.limited
}

// settle ends the attempt that is out, and returns what follows.
func (d *doing) settle(ctx context.Context, err error) stack.Step {
	r := policy.Report{Outcome: policy.Success}
	if err != nil || !d.guard.usual {
		r = d.guard.report(ctx, err)
		r.Final = r.Final || r.Outcome != policy.Success && repeatedElsewhere(ctx)
	}
	t := d.out
	d.out = stack.Ticket{}
	s := d.guard.settleAt(d.guard.now(), &d.call, t, r)
	if d.limited != nil {
		d.limited.end()
	}
	return s
}

// repeatedElsewhere reports whether another layer repeats what ctx belongs to, as
// the request that a server of an adapter's has received may say (F20). It is
// asked of an attempt that has failed, so that no other looks for it.
func repeatedElsewhere(ctx context.Context) bool {
	asked := carry.Of[Ask](ctx)
	return asked.Owner != "" || asked.Ask.Once
}

// end is deferred: an attempt that is still out then has panicked, or ended its
// goroutine, which is a bug of the caller's.
func (d *doing) end() {
	if !d.out.IsZero() {
		d.limited.end()
		d.guard.crash(&d.call, d.out)
	}
}

// asItsCaller reports whether the caller's context says all that the attempt's
// own would: it ends no later, and the number is the first.
func (c *call) asItsCaller(s stack.Step) bool { return s.Until >= c.Ask.Deadline && c.Attempts() == 1 }

// limited returns the context of an attempt that has a limit of its own or a
// number to tell; nil when the caller's context says it all.
func (g *Guard) limited(ctx context.Context, c *call, s stack.Step) *attemptContext {
	if c.asItsCaller(s) {
		return nil
	}
	a := &attemptContext{Context: ctx, number: c.Attempts()}
	if s.Until != policy.Never {
		a.until = g.at(s.Until)
	}
	return a
}

// report judges fn's error. Whatever a function returns when its caller has
// left, it is not the dependency's word (O-07): drivers hide the cause in
// errors of their own.
func (g *Guard) report(ctx context.Context, err error) policy.Report {
	r := g.classify(err)
	if r.Outcome != policy.Success && ctx.Err() != nil {
		r.Outcome = policy.Cut
	}
	return r
}

// answer turns a finished call into the error its caller gets.
func (g *Guard) answer(ctx context.Context, c *call, last error) error {
	if c.Why() == policy.None {
		return last
	}
	return g.refusal(ctx, c, last)
}

// refusal is the answer when something ended the call, which may be the last
// attempt's error after all.
func (g *Guard) refusal(ctx context.Context, c *call, last error) error {
	why := c.Why()
	switch why {
	case policy.Spent, policy.Budget:
		if !c.TimedOut() {
			return last // the real error is the answer
		}
		why = policy.Timeout
	case policy.Expired, policy.Gone:
		if last == nil {
			last = context.Cause(ctx)
		}
	}
	if left, ok := last.(*Rejection); ok && left.Guard == g.name && left.Reason == why && left.Cause == nil {
		last = nil // it says no more than what it would be the cause of
	}
	r := &Rejection{Guard: g.name, Reason: why, Waited: c.slept, Cause: last}
	if at := c.RetryAt(); at > 0 && at != policy.Never {
		r.RetryAfter = max(at.Sub(g.now()), 0)
	}
	return r
}
