package kalan

import (
	"context"
	"runtime"
	"sync/atomic"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/stack"
)

// Flight mode: each attempt runs on a goroutine of its own, so that its caller
// can leave it behind. An attempt is in exactly one of three hands: its own
// goroutine's while it flies; its call's once it has landed; its own again,
// for ever, once it was left.

const (
	flying int32 = iota
	landed
	left
)

type flight[T any] struct {
	ticket stack.Ticket
	until  policy.Instant
	ctx    leftContext
	hands  atomic.Int32
	// What it came back with, written by its own goroutine while it flies.
	value    T
	err      error
	panicked any
	exited   bool
}

// A trip is one call in flight mode.
type trip[T any] struct {
	g    *Guard
	way  Way[T]
	fn   func(context.Context) (T, error)
	call call
	back chan *flight[T]
	out  []*flight[T]
	last error
	few  [aloft]*flight[T] // the first memory of out
	// Nearly every call needs no more than one.
	first flight[T]
}

// aloft is how many attempts of one call can be out at once, and so how many
// can land before their owner looks: as many as the machine lets run, and one that
// follows what it has judged at their limit and we have not left yet.
const aloft = 4

func fly[T any](ctx context.Context, g *Guard, way Way[T], fn func(context.Context) (T, error)) (T, Held, error) {
	tr := &trip[T]{g: g, way: way, fn: fn, back: make(chan *flight[T], aloft)}
	tr.out = tr.few[:0]
	tr.call.Ask = way.Ask.ask()
	defer tr.leaveAll() // also when a panic of the function's passes through
	for s := g.begin(ctx, &tr.call); ; {
		switch s.Kind {
		case stack.Start:
			tr.launch(ctx, s)
			s = tr.again(ctx)
		case stack.Wait:
			f, came := tr.sleep(ctx, s)
			if !came {
				s = tr.again(ctx)
				continue
			}
			var held Held
			if held, s = tr.land(ctx, f); held.guard != nil {
				return f.value, held, nil
			}
		default:
			var zero T
			if tr.call.TimedOut() { // also by a reading of the clock later than ours
				tr.leaveOverdue(g.now())
			}
			return zero, Held{}, g.answer(ctx, &tr.call, tr.last)
		}
	}
}

// again asks the machine what is next, and leaves the attempts that it has judged
// at their limits. It does so after each launch too: where one follows another
// without a sleep between them, because their time is up at once, no more than
// aloft are out all the same.
func (tr *trip[T]) again(ctx context.Context) stack.Step {
	now := tr.g.now() // before the machine's: what is over by it has been judged
	s := tr.g.again(ctx, &tr.call)
	tr.leaveOverdue(now)
	return s
}

// launch starts an attempt. Its context is not its caller's: it ends when the
// dependency is presumed dead.
func (tr *trip[T]) launch(ctx context.Context, s stack.Step) {
	f := &tr.first
	if f.ctx.Context != nil { // it has flown
		f = new(flight[T])
	}
	f.ticket, f.until = s.Ticket, s.Until
	f.ctx.held = Held{tr.g, s.Ticket, &f.ctx.attemptContext}
	f.ctx.Context, f.ctx.number = context.WithoutCancel(ctx), tr.call.Attempts()
	if s.Bound != policy.Never {
		f.ctx.until = tr.g.at(s.Bound)
	}
	if s.Until != policy.Never {
		f.ctx.wanted = tr.g.at(s.Until)
	}
	tr.out = append(tr.out, f)
	go tr.run(f)
}

// run is the attempt's goroutine.
func (tr *trip[T]) run(f *flight[T]) {
	f.exited = true
	defer func() {
		if f.exited {
			if p := recover(); p != nil {
				f.panicked, f.exited = p, false
			}
		}
		if f.hands.CompareAndSwap(flying, landed) {
			tr.back <- f
			return
		}
		tr.bury(f)
	}()
	f.value, f.err = tr.fn(&f.ctx)
	f.exited = false
}

// sleep waits like Guard.sleep, and for an attempt to land.
func (tr *trip[T]) sleep(ctx context.Context, s stack.Step) (f *flight[T], came bool) {
	timer := tr.g.timer(s.Until)
	defer tr.g.putBack(timer)
	tr.call.slept = true
	select {
	case f = <-tr.back:
		return f, true
	case <-tr.call.wake:
	case <-expiry(timer):
	case <-ctx.Done():
	}
	return nil, false
}

// land takes in an attempt's result. The Held is the call's answer, if it is.
func (tr *trip[T]) land(ctx context.Context, f *flight[T]) (held Held, s stack.Step) {
	g := tr.g
	tr.takeOff(f)
	settled := false
	defer func() {
		if !settled { // a panic or a Goexit, in the function or in judging its value
			g.crash(&tr.call, f.ticket)
			f.ctx.end()
		}
	}()
	if f.exited || f.panicked != nil {
		tr.fall(f)
	}
	r := tr.way.report(ctx, g, f.value, f.err)
	switch counts := g.judge(&tr.call, f.ticket, r); {
	case !counts: // its time was up before it landed
		settled = true
		tr.ranOut(f)
		go tr.bury(f)
		return held, g.again(ctx, &tr.call)
	case f.err != nil:
		tr.last = f.err
	case tr.call.Over():
		settled = true
		return Held{g, f.ticket, &f.ctx.attemptContext}, s
	default:
		tr.last = tr.way.discard(f.value)
	}
	settled = true
	f.ctx.end()
	return held, g.settle(&tr.call, f.ticket, r)
}

// fall lets a panic or a Goexit of the function's reach the caller.
func (tr *trip[T]) fall(f *flight[T]) {
	if f.panicked != nil {
		panic(f.panicked)
	}
	runtime.Goexit()
}

// leave lets an attempt run on without its caller.
func (tr *trip[T]) leave(f *flight[T]) {
	if f.hands.CompareAndSwap(flying, left) {
		if tr.g.cancels.Load() {
			f.ctx.end()
		}
		return
	}
	var others []*flight[T]
	for other := range tr.back { // it has landed: it is here, or about to be
		if other == f {
			go tr.bury(f)
			break
		}
		others = append(others, other)
	}
	for _, other := range others { // these are still the call's
		tr.back <- other
	}
}

func (tr *trip[T]) leaveAll() {
	for len(tr.out) > 0 {
		f := tr.out[len(tr.out)-1]
		tr.takeOff(f)
		tr.leave(f)
	}
}

// leaveOverdue leaves the attempts that the stack has judged at their limit.
func (tr *trip[T]) leaveOverdue(now policy.Instant) {
	for i := len(tr.out) - 1; i >= 0 && i < len(tr.out); i-- {
		if f := tr.out[i]; now >= f.until {
			tr.ranOut(f)
			tr.takeOff(f)
			tr.leave(f)
		}
	}
}

// ranOut keeps as the last error what an attempt leaves whose own limit has
// passed: it will say nothing itself, and whatever ends the call after it has to
// name a cause.
func (tr *trip[T]) ranOut(f *flight[T]) {
	if f.until < tr.call.Ask.Deadline {
		tr.last = &Rejection{Guard: tr.g.name, Reason: policy.Timeout}
	}
}

func (tr *trip[T]) takeOff(f *flight[T]) {
	for i, o := range tr.out {
		if o == f {
			tr.out = append(tr.out[:i], tr.out[i+1:]...)
			return
		}
	}
}

// bury ends an attempt that nobody waits for. What it says of the dependency
// is still news for the breaker; a panic in it has no caller to reach, so it is
// counted.
func (tr *trip[T]) bury(f *flight[T]) {
	outcome := policy.Ignored
	defer func() {
		if p := recover(); p != nil || f.panicked != nil {
			tr.g.mu.Lock()
			tr.g.panics++
			tr.g.mu.Unlock()
		}
		tr.g.free(f.ticket, outcome)
		f.ctx.end()
	}()
	if f.exited || f.panicked != nil {
		return
	}
	said := tr.way.judge(tr.g, f.value, f.err).Outcome
	if f.err == nil {
		_ = tr.way.discard(f.value)
	} else if said != policy.Success && tr.g.cancels.Load() {
		said = policy.Cut // it did as it was told
	}
	outcome = said
}
