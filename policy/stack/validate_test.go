package stack_test

import (
	"testing"
	"time"

	"github.com/kalan-go/kalan/policy/breaker"
	"github.com/kalan-go/kalan/policy/limit"
	"github.com/kalan-go/kalan/policy/retry"
	"github.com/kalan-go/kalan/policy/stack"
)

// What is allowed and cannot do what it was written for is warned of, and only
// where something is to be done about it.
func TestWarnings(t *testing.T) {
	const hangs = "breaker.open: 10s is less than exchange, 20s: a probe that hangs may still hold the slot that is kept for probes when the next are due; write at least 20s"
	long := stack.Config{Exchange: 20 * time.Second}
	with := func(change func(*stack.Config)) stack.Config {
		c := long
		change(&c)
		return c
	}
	hedged := func(attempts int, after time.Duration) stack.Config {
		return stack.Config{Exchange: time.Second, Retry: retry.Config{Attempts: attempts, Hedge: retry.Hedge{After: after}}}
	}
	for name, c := range map[string]struct {
		config stack.Config
		want   string
	}{
		"the defaults":                         {stack.Config{Exchange: 800 * time.Millisecond}, ""},
		"no limit of time":                     {stack.Config{}, ""},
		"open as long as an exchange":          {stack.Config{Exchange: 10 * time.Second}, ""},
		"a probe outlasts open":                {long, hangs},
		"observed":                             {with(func(c *stack.Config) { c.Observe = true }), hangs},
		"it cancels":                           {with(func(c *stack.Config) { c.Cancels = true }), ""},
		"slots are not counted":                {with(func(c *stack.Config) { c.Limit.Kind = limit.Unlimited }), ""},
		"no breaker":                           {with(func(c *stack.Config) { c.Breaker.Mode = breaker.Disabled }), ""},
		"a hedge":                              {hedged(2, 500*time.Millisecond), ""},
		"a hedge of one attempt":               {hedged(1, 500*time.Millisecond), "retry.hedge: is never launched: it is one of the attempts, and attempts is 1; write attempts: 2, or hedge: off"},
		"a hedge when the attempt is over":     {hedged(2, time.Second), "retry.hedge: 1s is not below exchange, 1s: the attempt that it is to stand beside is over by then; write a shorter delay, or a percentile such as p95"},
		"a percentile is measured, so it fits": {stack.Config{Exchange: time.Second, Retry: retry.Config{Hedge: retry.Hedge{Quantile: .95}}}, ""},
	} {
		c.config.Checkout = 300 * time.Millisecond // the room has a warning of its own for the default
		got := c.config.Validate()
		if got.Error() != c.want {
			t.Errorf("%s: got\n%v\nwant\n%v", name, got, c.want)
		}
		if got.Err() != nil {
			t.Errorf("%s is an error: %v", name, got.Err())
		}
	}
}
