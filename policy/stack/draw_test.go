package stack_test

import (
	"time"

	"github.com/kalan-go/kalan/policy/breaker"
	"github.com/kalan-go/kalan/policy/budget"
	"github.com/kalan-go/kalan/policy/limit"
	"github.com/kalan-go/kalan/policy/retry"
	"github.com/kalan-go/kalan/policy/room"
	"github.com/kalan-go/kalan/policy/stack"
	"github.com/kalan-go/kalan/policy/throttle"
)

func pick[T any](roll dice, from ...T) T { return from[roll(len(from))] }

// drawConfig draws a small stack, in which everything is soon full, late or
// broken.
func drawConfig(roll dice) stack.Config {
	return stack.Config{
		Exchange: pick(roll, 100*ms, 100*ms, 800*ms, 0),
		Checkout: pick(roll, 50*ms, 50*ms, 10*ms, 2*time.Second, -1),
		Limit:    pick(roll, limit.Fixed(1+roll(4)), limit.Fixed(1+roll(4)), limit.Config{}),
		Room:     room.Config{Waiting: pick(roll, 3, 3, 1, 100, -1)},
		Rate:     pick(roll, 0.0, 0, 5, 200),
		Throttle: pick(roll, nil, nil, nil, &throttle.Config{Floor: -1}, &throttle.Config{K: 1.2, Window: time.Second, Observe: roll(5) == 0}),
		Breaker: breaker.Config{
			Mode:   pick(roll, breaker.Auto, breaker.Auto, breaker.Auto, breaker.Auto, breaker.Observe),
			Window: pick(roll, 0, time.Second), Calls: 1 + roll(5), Slow: pick(roll, 0, 0, 20*ms, -1),
			Open: pick(roll, 50*ms, 200*ms, 10*time.Second), Probes: 1 + roll(3),
			HalfOpen: pick(roll, 0, 100*ms), Ramp: pick(roll, 0, 0, time.Second),
		},
		Retry: retry.Config{
			Attempts: 1 + roll(4), Base: pick(roll, ms, 100*ms), Jitter: retry.Jitter(roll(5)),
			Hedge: pick(roll, retry.Hedge{}, retry.Hedge{After: 5 * ms}, retry.Hedge{Quantile: .9}),
		},
		Budget:  budget.Config{Ratio: pick(roll, 0, 1, .3), Floor: pick(roll, 0, -1), Window: pick[time.Duration](roll, 0, -1)},
		Cancels: roll(3) == 0,
		Observe: roll(12) == 0,
		Trace:   pick(roll, 0, 7),
	}
}
