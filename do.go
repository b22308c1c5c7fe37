package kalan

import (
	"context"

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
// A panic or a Goexit in fn frees the slot and reaches the caller; it says
// nothing about the dependency.
func Do[T any](ctx context.Context, g *Guard, fn func(context.Context) (T, error)) (T, error) {
	var c call
	var value T
	var err error
	for s := g.begin(ctx, &c); ; {
		switch s.Kind {
		case stack.Start:
			value, s, err = attempt(ctx, g, &c, s, fn)
		case stack.Wait:
			s = g.sleep(ctx, &c, s)
		default:
			return value, g.answer(ctx, &c, err)
		}
	}
}

// attempt runs fn once, inline.
func attempt[T any](ctx context.Context, g *Guard, c *call, s stack.Step, fn func(context.Context) (T, error)) (value T, next stack.Step, err error) {
	limited := g.limited(ctx, c, s)
	settled := false
	defer func() {
		limited.end()
		if !settled { // a panic or a Goexit is a bug of the caller's
			g.crash(c, s.Ticket)
		}
	}()
	if limited != nil {
		value, err = fn(limited)
	} else {
		value, err = fn(ctx)
	}
	r := g.report(ctx, err)
	settled = true
	return value, g.settle(c, s.Ticket, r), err
}

// limited returns the context of an attempt that has a limit of its own or a
// number to tell; nil when the caller's context says it all.
func (g *Guard) limited(ctx context.Context, c *call, s stack.Step) *attemptContext {
	if s.Until >= c.Ask.Deadline && c.Attempts() == 1 {
		return nil
	}
	return g.limit(ctx, c, s)
}

func (g *Guard) limit(ctx context.Context, c *call, s stack.Step) *attemptContext {
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
