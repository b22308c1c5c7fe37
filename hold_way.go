package kalan

import (
	"context"
	"errors"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/stack"
)

// Ask is what a caller brings to a call beside its context.
type Ask struct {
	// Level is the call's priority: 0 is critical and never shed.
	Level uint8
	// Weight is the flow's share against other flows; 0 means 1.
	Weight uint8
	// Flow is a hash of who asks, so that tenants wait in turn.
	Flow uint32
	// Route is the kind of work, below stack.Routes: how long it takes is
	// learned for each by itself, and what cannot be finished in the caller's
	// time is refused by that.
	Route uint8
	// Hedge allows Hold with Leave to run the function a second time while the
	// first has not answered, when Config.Retry.Hedge says when: the function
	// must be safe to run twice at once, not only twice.
	Hedge bool
	// Unsafe says that doing it twice may do it twice. An attempt that ran out
	// of time is then followed by no other; what Judge calls a failure that is
	// not Final, because nothing was sent, still may be.
	Unsafe bool
	// Once forbids retries and hedges: another layer owns them (F20).
	Once bool
}

func (a Ask) ask() stack.Ask {
	return stack.Ask{
		Level: a.Level, Weight: a.Weight, Flow: a.Flow, Route: a.Route, Once: a.Once,
		Unsafe: a.Unsafe, Hedge: a.Hedge && !a.Unsafe,
	}
}

// A Way says how Hold deals with the values of one kind of call. The zero Way
// judges by the error alone and runs the function on the caller's goroutine.
type Way[T any] struct {
	// Judge says what a value or an error tells of the dependency: an answer
	// of 503 is not an error. nil means the guard's Classify on the error.
	Judge func(T, error) policy.Report
	// Discard gives back a value that nobody will get: of an attempt that is
	// followed by another, or that came too late. It returns what the value
	// was as an error, which is kept as the cause of a later rejection. nil
	// means that there is nothing to give back.
	Discard func(T) error
	// Ask is what the caller brings.
	Ask Ask
	// Leave lets an attempt run on without its caller (a goroutine for each
	// attempt): Hold returns at the caller's deadline or cancellation whatever
	// the function does, and the slot stays occupied until it returns. The
	// function's context is then not its caller's: it ends when the dependency
	// is presumed dead, or with the caller if stack.Config.Cancels is set. The
	// function must not use what belongs to the caller once Hold has returned.
	// A panic of the function's reaches a caller who is still there, with its
	// value and the caller's stack; one that nobody waits for is counted in
	// stack.Snapshot.Panics and ends here.
	Leave bool
}

// errDiscarded is the cause that a discarded value leaves when the Way does
// not say what it was.
var errDiscarded = errors.New("the attempt's answer was a failure")

func (w *Way[T]) discard(v T) error {
	if w.Discard != nil {
		if err := w.Discard(v); err != nil {
			return err
		}
	}
	return errDiscarded
}

func (w *Way[T]) judge(g *Guard, v T, err error) policy.Report {
	if w.Judge != nil {
		return w.Judge(v, err)
	}
	return g.classify(err)
}

// report is judge in the light of whether the caller is still there.
func (w *Way[T]) report(ctx context.Context, g *Guard, v T, err error) policy.Report {
	r := w.judge(g, v, err)
	if r.Outcome != policy.Success && ctx.Err() != nil {
		r.Outcome = policy.Cut
	}
	return r
}

// Held is a slot that stays occupied after Hold has returned, by a value that
// is still being read. The zero Held holds nothing.
type Held struct {
	guard  *Guard
	ticket stack.Ticket
	ctx    *attemptContext
}

// Release gives the slot back and ends the attempt's context. The outcome is
// that of the end: Success when the value was read to its last byte, Failure
// when it broke, Cut when the caller left. Releasing twice, also from a copy,
// changes nothing.
func (h Held) Release(o policy.Outcome) {
	if h.guard == nil {
		return
	}
	h.guard.free(h.ticket, o)
	h.ctx.end()
}

// Hold runs fn behind the guard like [Do], and leaves the slot occupied when
// it returns a value: until [Held.Release], which the caller owes exactly when
// the error is nil. It is for answers that go on after they have begun, such
// as an HTTP response with its body.
//
// A value that way.Judge calls a failure is returned, with a nil error, when no
// further attempt is made.
func Hold[T any](ctx context.Context, g *Guard, way Way[T], fn func(context.Context) (T, error)) (T, Held, error) {
	if way.Leave {
		return fly(ctx, g, way, fn)
	}
	return hold(ctx, g, &way, fn)
}

// hold is Hold on the caller's goroutine.
func hold[T any](ctx context.Context, g *Guard, way *Way[T], fn func(context.Context) (T, error)) (T, Held, error) {
	c := call{Call: stack.Call{Ask: way.Ask.ask()}}
	c.Ask.Hedge = false // one goroutine runs one attempt at a time
	var last error
	for s := g.begin(ctx, &c); ; {
		switch s.Kind {
		case stack.Start:
			var value T
			var held Held
			value, held, s, last = holdOnce(ctx, g, &c, s, way, fn)
			if held.guard != nil {
				return value, held, nil
			}
		case stack.Wait:
			s = g.sleep(ctx, &c, s)
		default:
			var zero T
			return zero, Held{}, g.answer(ctx, &c, last)
		}
	}
}

// holdOnce runs one attempt inline. It returns a Held when the value is the
// call's answer, and otherwise the error that the attempt left.
func holdOnce[T any](ctx context.Context, g *Guard, c *call, s stack.Step, way *Way[T], fn func(context.Context) (T, error)) (value T, held Held, next stack.Step, err error) {
	limited := g.limited(ctx, c, s)
	settled := false
	defer func() {
		if !settled { // a panic or a Goexit
			g.crash(c, s.Ticket)
		}
		if held.guard == nil {
			limited.end()
		}
	}()
	if limited != nil {
		value, err = fn(limited)
	} else {
		value, err = fn(ctx)
	}
	r := way.report(ctx, g, value, err)
	if err != nil {
		settled = true
		return value, held, g.settle(c, s.Ticket, r), err
	}
	if g.judge(c, s.Ticket, r); c.Over() {
		settled = true
		return value, Held{g, s.Ticket, limited}, next, nil
	}
	err = way.discard(value)
	settled = true
	return value, held, g.settle(c, s.Ticket, r), err
}
