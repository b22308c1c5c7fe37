package stack_test

import (
	"testing"
	"time"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/stack"
)

// A limit that finds its number by itself is told to have moved, at most ten
// times a second, and in the end for what it is.
func TestResizedIsTold(t *testing.T) {
	type out struct {
		call *stack.Call
		step stack.Step
		due  policy.Instant
	}
	s := stack.New(stack.Config{Trace: 1 << 16})
	var now, last policy.Instant
	var flying []out
	var workers [16]policy.Instant // when each is free: at 16 the dependency is busy, beyond it queues
	for n := 0; now < policy.Instant(20*time.Second); {
		for len(flying) < min(s.Snapshot(now).Limit, 200) {
			c := &stack.Call{Ask: stack.Ask{Deadline: policy.Never}}
			s.Begin(now, c)
			step := s.Next(now, c)
			if step.Kind != stack.Start {
				t.Fatalf("at %v: %+v although a slot is free", now, step)
			}
			w := &workers[n%len(workers)]
			n++
			*w = max(*w, now).Add(10 * time.Millisecond)
			flying = append(flying, out{c, step, *w})
		}
		first := flying[0]
		flying, now = flying[1:], max(now, first.due)
		s.Settle(now, first.call, first.step.Ticket, policy.Report{Outcome: policy.Success})
	}
	events, _ := s.Events(0, nil)
	var told []policy.Event
	for _, e := range events {
		if e.Kind != policy.Resized {
			continue
		}
		if len(told) > 0 && (e.At.Sub(last) < 100*time.Millisecond || e.Count == told[len(told)-1].Count) {
			t.Fatalf("%+v was told after %+v", e, told[len(told)-1])
		}
		told, last = append(told, e), e.At
	}
	if len(told) < 2 || now.Sub(last) > time.Second && told[len(told)-1].Count != int64(s.Snapshot(now).Limit) {
		t.Errorf("told of %d moves, the last %+v; the limit is %d", len(told), told[max(0, len(told)-1):], s.Snapshot(now).Limit)
	}
}
