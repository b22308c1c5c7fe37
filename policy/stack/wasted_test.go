package stack

import (
	"testing"
	"time"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/limit"
)

// An answer that comes when its caller's time is up is work done for nobody:
// whoever has left, and however it is judged.
func TestWastedWorkIsCounted(t *testing.T) {
	const ms = policy.Instant(time.Millisecond)
	for name, c := range map[string]struct {
		deadline, answered policy.Instant
		outcome            policy.Outcome
		want               uint64
	}{
		"in time":              {100 * ms, 99 * ms, policy.Success, 0},
		"at the deadline":      {100 * ms, 100 * ms, policy.Success, 1},
		"late, and no success": {100 * ms, 150 * ms, policy.Ignored, 1},
		"never answered":       {100 * ms, 150 * ms, policy.Failure, 0},
		"without a deadline":   {policy.Never, time500, policy.Success, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := New(Config{Limit: limit.Fixed(1)})
			call := Call{Ask: Ask{Deadline: c.deadline}}
			s.Begin(0, &call)
			ticket := s.Next(0, &call).Ticket
			if c.answered > c.deadline {
				s.Next(c.deadline, &call) // its caller leaves
			}
			s.Settle(c.answered, &call, ticket, policy.Report{Outcome: c.outcome})
			shot := s.Snapshot(c.answered)
			if shot.Counts.Wasted != c.want {
				t.Errorf("%d wasted, want %d", shot.Counts.Wasted, c.want)
			}
			if shot.Slots.Max != 1 || shot.Room.Places != 1000 || shot.Rate.Burst != 0 {
				t.Errorf("%+v", shot)
			}
		})
	}
}

const time500 = policy.Instant(500 * time.Millisecond)
