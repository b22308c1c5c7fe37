package stack_test

import (
	"testing"
	"time"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/limit"
	"github.com/kalan-go/kalan/policy/stack"
)

// One call with every policy on: what the composition costs, without a driver.
func BenchmarkCall(b *testing.B) {
	s := stack.New(stack.Config{Exchange: 800 * time.Millisecond, Limit: limit.Fixed(25), Rate: 1e9})
	var now policy.Instant
	b.ReportAllocs()
	for b.Loop() {
		c := stack.Call{Ask: stack.Ask{Deadline: policy.Never}}
		s.Begin(now, &c)
		step := s.Next(now, &c)
		now += 300
		s.Settle(now, &c, step.Ticket, policy.Report{Outcome: policy.Success})
	}
}
