package stack_test

import (
	"testing"
	"time"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/budget"
	"github.com/kalan-go/kalan/policy/limit"
	"github.com/kalan-go/kalan/policy/retry"
	"github.com/kalan-go/kalan/policy/stack"
	"github.com/kalan-go/kalan/policy/throttle"
)

// Invariant 16: nothing is allocated once the slab has grown to what is in use
// at once, whatever becomes of a call.
func TestNothingIsAllocated(t *testing.T) {
	b := bench{s: stack.New(stack.Config{
		Exchange: exchange, Limit: limit.Fixed(3), Rate: 1e9, Trace: 64, Throttle: &throttle.Config{},
		Retry:  retry.Config{Attempts: 3, Jitter: retry.AtOnce, Hedge: retry.Hedge{After: ms}},
		Budget: budget.Config{Ratio: 1},
	})}
	b.round()
	if n := testing.AllocsPerRun(100, b.round); n != 0 {
		t.Errorf("%v allocations a round", n)
	}
	shot := b.s.Snapshot(b.now)
	if shot.InFlight != 0 || shot.Waiting != 0 || shot.Counts.Retries < 200 || shot.Counts.Refused[policy.Gone] < 200 || shot.Counts.Left < 100 {
		t.Errorf("the round is not what it was meant to be: %+v", shot)
	}
}

// A bench tells a stack of three slots of a call of every kind.
type bench struct {
	s     *stack.Stack
	now   policy.Instant
	calls [3]stack.Call
	held  [8]stack.Ticket
	n     int
}

func (b *bench) round() {
	b.n = 0
	one, two, three := &b.calls[0], &b.calls[1], &b.calls[2]
	b.begin(one)
	b.s.Settle(b.now, one, b.held[0], policy.Report{Outcome: policy.Failure})
	b.ask(one) // retried at once
	b.pass(2 * ms)
	b.ask(one) // and hedged
	b.begin(two)
	b.begin(three) // waits
	b.s.Settle(b.now, one, b.held[1], policy.Report{Outcome: policy.Success})
	b.s.Free(b.now, b.held[2], policy.Failure) // the loser
	b.pass(2 * ms)
	b.s.Cancel(b.now, two)
	b.s.Cancel(b.now, three)
	for _, t := range b.held[:b.n] {
		b.s.Free(b.now, t, policy.Success)
	}
	b.pass(0)
}

func (b *bench) begin(c *stack.Call) {
	*c = stack.Call{Ask: stack.Ask{Deadline: b.now.Add(exchange), Hedge: true}}
	b.s.Begin(b.now, c)
	b.ask(c)
}

func (b *bench) ask(c *stack.Call) {
	for step := b.s.Next(b.now, c); step.Kind == stack.Start; step = b.s.Next(b.now, c) {
		b.held[b.n] = step.Ticket
		b.n++
	}
}

func (b *bench) pass(d time.Duration) {
	b.now = b.now.Add(d)
	for _, ok := b.s.Woken(); ok; _, ok = b.s.Woken() {
	}
}
