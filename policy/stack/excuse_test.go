package stack

import (
	"testing"
	"time"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/breaker"
	"github.com/kalan-go/kalan/policy/limit"
)

// What waits for its caller says nothing of the dependency, however it ends and
// when, and its slot is taken until then.
func TestAnExcusedAttemptSaysNothing(t *testing.T) {
	const exchange = 800 * time.Millisecond
	for name, end := range map[string]func(*Stack, policy.Instant, *Call, Ticket){
		"a late answer": func(s *Stack, now policy.Instant, c *Call, t Ticket) {
			s.Settle(now.Add(exchange-1), c, t, policy.Report{Outcome: policy.Success})
		},
		"a failure": func(s *Stack, now policy.Instant, c *Call, t Ticket) {
			s.Settle(now.Add(exchange-1), c, t, policy.Report{Outcome: policy.Failure})
		},
		"a timeout": func(s *Stack, now policy.Instant, c *Call, t Ticket) {
			s.Next(now.Add(exchange), c)
			s.Free(now.Add(exchange), t, policy.Failure)
		},
		"an answer that breaks": func(s *Stack, now policy.Instant, c *Call, t Ticket) {
			s.Judge(now.Add(exchange/8), c, t, policy.Report{Outcome: policy.Success})
			s.Free(now.Add(exchange-1), t, policy.Failure)
		},
	} {
		s := New(Config{Exchange: exchange})
		before := s.Snapshot(0)
		var now policy.Instant
		for range 50 {
			c := Call{Ask: Ask{Deadline: policy.Never}}
			s.Begin(now, &c)
			ticket := s.Next(now, &c).Ticket
			s.Excuse(now.Add(exchange/8), ticket)
			if shot := s.Snapshot(now.Add(exchange / 8)); shot.InFlight != 1 {
				t.Fatalf("%s: %d in flight after it was excused", name, shot.InFlight)
			}
			end(s, now, &c, ticket)
			now = now.Add(2 * exchange)
		}
		shot := s.Snapshot(now)
		if shot.Breaker.Calls+int(shot.Breaker.Score) > 0 || shot.Mean != 0 || shot.Limit != before.Limit || shot.InFlight != 0 {
			t.Errorf("%s: mean %v, limit %d, %d in flight, %+v", name, shot.Mean, shot.Limit, shot.InFlight, shot.Breaker)
		}
		if shot.Counts.Outcomes[policy.Cut] != 50 {
			t.Errorf("%s: outcomes %v of 50", name, shot.Counts.Outcomes)
		}
	}
}

// Nor does one whose caller's time runs out, before it is excused or after.
func TestAnExcusedGhostSaysNothing(t *testing.T) {
	const ms = policy.Instant(time.Millisecond)
	for _, at := range []policy.Instant{100 * ms, 350 * ms} {
		s := New(Config{Exchange: 800 * time.Millisecond})
		c := Call{Ask: Ask{Deadline: 300 * ms}}
		s.Begin(0, &c)
		ticket := s.Next(0, &c).Ticket
		if at < 300*ms {
			s.Excuse(at, ticket)
		}
		s.Next(300*ms, &c) // its caller leaves
		s.Excuse(max(at, 301*ms), ticket)
		s.Free(700*ms, ticket, policy.Cut)
		if shot := s.Snapshot(700 * ms); shot.Breaker.Calls > 0 || shot.Slots.Late > 0 || shot.InFlight > 0 {
			t.Errorf("excused at %v: %+v, %d late", at, shot.Breaker, shot.Slots.Late)
		}
	}
}

// A caller who sends slowly does not hold a place of the few that find out
// whether the dependency is well again.
func TestAnExcusedProbeGivesItsPlaceBack(t *testing.T) {
	s := New(Config{Exchange: time.Second, Limit: limit.Fixed(5), Breaker: breaker.Config{Calls: 1, Probes: 1, Open: time.Second}})
	var now policy.Instant
	start := func() (*Call, Ticket, bool) {
		c := &Call{Ask: Ask{Deadline: policy.Never, Once: true}}
		s.Begin(now, c)
		step := s.Next(now, c)
		return c, step.Ticket, step.Kind == Start
	}
	for range 50 {
		if c, ticket, ok := start(); ok {
			now = now.Add(time.Second - 1)
			s.Settle(now, c, ticket, policy.Report{Outcome: policy.Failure})
		}
	}
	for s.Snapshot(now).Breaker.State == breaker.Open {
		now = now.Add(100 * time.Millisecond)
		s.Look(now)
	}
	if state := s.Snapshot(now).Breaker.State; state != breaker.HalfOpen {
		t.Fatalf("the breaker is %v", state)
	}
	_, slow, ok := start()
	if _, _, second := start(); !ok || second {
		t.Fatalf("probes: first %v, second %v", ok, second)
	}
	s.Excuse(now.Add(time.Millisecond), slow)
	if _, _, ok := start(); !ok {
		t.Error("the excused probe holds its place")
	}
}
