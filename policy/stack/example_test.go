package stack_test

import (
	"fmt"
	"time"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/limit"
	"github.com/kalan-go/kalan/policy/stack"
)

// A driver owns a Call for each call, asks Next until it says Wait or Done, and
// drains Woken before it lets anybody else in. Here the clock is a variable.
func Example() {
	s := stack.New(stack.Config{Exchange: 800 * time.Millisecond, Limit: limit.Fixed(1)})
	now := policy.Instant(0)

	first := stack.Call{Ask: stack.Ask{Deadline: policy.Never}}
	s.Begin(now, &first)
	attempt := s.Next(now, &first)
	fmt.Println("first:", attempt.Kind == stack.Start, "until", attempt.Until)

	second := stack.Call{Ask: stack.Ask{Deadline: now.Add(time.Second)}}
	s.Begin(now, &second)
	place := s.Next(now, &second)
	fmt.Println("second waits:", place.Kind == stack.Wait, "until", place.Until)

	now = now.Add(20 * time.Millisecond)
	s.Settle(now, &first, attempt.Ticket, policy.Report{Outcome: policy.Success})
	for woken, ok := s.Woken(); ok; woken, ok = s.Woken() {
		fmt.Println("woken:", woken == place.Ticket)
	}
	fmt.Println("second:", s.Next(now, &second).Kind == stack.Start)

	now = now.Add(20 * time.Millisecond)
	s.Cancel(now, &second)
	fmt.Println("second ended:", second.Why())
	fmt.Println("kept until the dependency has finished:", s.Snapshot(now).Kept)
	// Output:
	// first: true until 800ms
	// second waits: true until 50ms
	// woken: true
	// second: true
	// second ended: caller is gone
	// kept until the dependency has finished: 1
}
