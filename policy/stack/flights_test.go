package stack_test

import (
	"testing"
	"time"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/budget"
	"github.com/kalan-go/kalan/policy/limit"
	"github.com/kalan-go/kalan/policy/retry"
	"github.com/kalan-go/kalan/policy/stack"
)

// A plan that allows more attempts than may be out at once must not make Next
// say "wait until now" for ever: its driver would spin.
func TestNoHedgeBeyondWhatMayBeOut(t *testing.T) {
	s := stack.New(stack.Config{
		Limit:  limit.Fixed(25),
		Retry:  retry.Config{Attempts: 10, Hedge: retry.Hedge{After: 10 * time.Millisecond}},
		Budget: budget.Config{Floor: 100},
	})
	c := stack.Call{Ask: stack.Ask{Deadline: policy.Never, Hedge: true}}
	s.Begin(0, &c)
	started := 0
	for now := policy.Instant(0); now < policy.Instant(time.Second); {
		step := s.Next(now, &c)
		switch {
		case step.Kind == stack.Start:
			started++
		case step.Until <= now:
			t.Fatalf("at %v: wait until %v, with %d attempts out", now, step.Until, started)
		case step.Until == policy.Never:
			if started != 3 {
				t.Errorf("%d attempts out at once, want 3", started)
			}
			return
		default:
			now = step.Until
		}
	}
}
