package retry_test

import (
	"fmt"
	"time"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/budget"
	"github.com/kalan-go/kalan/policy/retry"
)

// This is a whole driver: it asks, launches, tells what happened, and lets the
// time pass when there is nothing to do. The dependency fails at once, always.
func Example() {
	plan := retry.New(retry.Config{Attempts: 10, Jitter: retry.Constant})
	b := budget.New(budget.Config{Floor: 100})
	deadline := policy.Instant(2 * time.Second)

	now := policy.Instant(0)
	call := plan.Begin(deadline, 1)
	for {
		move, at := plan.Next(now, &call, b)
		if move == retry.Stop {
			break
		}
		if move == retry.Wait {
			now = at
			continue
		}
		mark := plan.Launched(&call)
		fmt.Printf("%v: attempt %d\n", now, call.Attempts())
		b.End(now, &mark)
		plan.Settle(now, &call, policy.Report{Outcome: policy.Failure}, policy.None, b)
	}
	fmt.Printf("%v: %v\n", now, call.Why())
	// Output:
	// 0s: attempt 1
	// 100ms: attempt 2
	// 300ms: attempt 3
	// 700ms: attempt 4
	// 1.5s: attempt 5
	// 1.5s: remaining time is too short
}

// The wait without jitter never exceeds the cap, whatever the number.
func ExampleConfig_Schedule() {
	c := retry.Config{Base: 100 * time.Millisecond, Factor: 2, Cap: time.Second}
	for _, n := range []int{0, 1, 2, 3, 4, 64, 1 << 62} {
		fmt.Print(c.Schedule(n), " ")
	}
	// Output: 100ms 200ms 400ms 800ms 1s 1s 1s
}
