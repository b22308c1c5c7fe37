package breaker_test

import (
	"fmt"
	"time"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/breaker"
)

func Example() {
	b := breaker.New(breaker.Config{Exchange: 800 * time.Millisecond})
	call := func(now policy.Instant, o policy.Outcome) {
		pass, ok := b.Admit(now)
		if !ok {
			fmt.Printf("%v: refused, come back at %v\n", now, b.RetryAt(now))
			return
		}
		b.Settle(now, &pass, o, time.Millisecond)
	}

	for range 20 {
		call(0, policy.Failure)
	}
	call(policy.Instant(time.Second), policy.Success)
	fmt.Println(b.Look(policy.Instant(10 * time.Second))) // nobody has called

	for range 5 {
		call(policy.Instant(11*time.Second), policy.Success)
	}
	fmt.Println(b.Look(policy.Instant(11 * time.Second)))
	// Output:
	// 1s: refused, come back at 10s
	// half-open
	// closed
}

// A call that hangs is told of before it ends: nothing else would ever count.
func ExampleBreaker_Overdue() {
	b := breaker.New(breaker.Config{Exchange: 800 * time.Millisecond})
	for i := range 21 {
		began := policy.Instant(i) * policy.Instant(100*time.Millisecond)
		pass, _ := b.Admit(began)
		b.Overdue(began.Add(b.SlowAfter()), &pass)
	}
	s := b.Snapshot(policy.Instant(3 * time.Second))
	fmt.Printf("%v since %v, %d slow\n", s.State, s.Since, s.Slow)
	// Output: open since 2.3s, 20 slow
}
