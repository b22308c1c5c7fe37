package stack_test

import (
	"testing"
	"time"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/breaker"
	"github.com/kalan-go/kalan/policy/stack"
)

// Nobody has to look where time alone changes nothing: a guard whose dependency
// is called no more would be kept awake, and in memory, by its own timer.
func TestRestsWhereTimeAloneChangesNothing(t *testing.T) {
	const second = policy.Instant(time.Second)
	s := stack.New(stack.Config{Breaker: breaker.Config{Calls: 1, Open: 10 * time.Second}})
	is := func(state breaker.State, restless bool) {
		t.Helper()
		if got := s.Snapshot(0).Breaker.State; got != state || s.Restless() != restless {
			t.Errorf("%v, restless %v; want %v, %v", got, s.Restless(), state, restless)
		}
	}
	is(breaker.Closed, false)
	attempt := func(now policy.Instant, o policy.Outcome) {
		t.Helper()
		c := stack.Call{Ask: stack.Ask{Deadline: policy.Never}}
		s.Begin(now, &c)
		step := s.Next(now, &c)
		if step.Kind != stack.Start || !s.Restless() {
			t.Fatalf("%+v, restless %v", step, s.Restless())
		}
		s.Settle(now+1, &c, step.Ticket, policy.Report{Outcome: o, Final: true})
	}
	attempt(0, policy.Failure)
	is(breaker.Open, true)
	s.Look(11 * second)
	is(breaker.HalfOpen, false)
	attempt(20*second, policy.Ignored)
	is(breaker.HalfOpen, false)
	attempt(30*second, policy.Success)
	is(breaker.HalfOpen, true) // judged by what is known, at the latest after 30 s
	s.Look(61 * second)
	is(breaker.Closed, false)
	s.Configure(62*second, stack.Config{Breaker: breaker.Config{Mode: breaker.ForcedOpen}})
	is(breaker.Open, false)
}
