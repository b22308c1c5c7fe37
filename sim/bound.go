package sim

import (
	"math"
	"time"

	"github.com/kalan-go/kalan/internal/field"
	"github.com/kalan-go/kalan/policy"
)

// mostEvents is how many events a scenario may need: half an hour of one
// processor.
const mostEvents = 1e10

// eventsEach is how many events a request causes at a service, with those of
// its caller.
const eventsEach = 5

// checkCost refuses a scenario that would need more events than anybody waits
// for, or more memory than there may be, with the estimate.
func (s Scenario) checkCost() policy.Problems {
	var c field.Check
	events := 0.0
	for i := range max(len(s.Arms), 1) {
		arm := s
		if len(s.Arms) > 0 {
			arm = s.with(s.Arms[i])
		}
		requests, worst := arm.cost()
		events += worst * eventsEach * float64(s.Replications)
		if waiting := arm.pile(requests); waiting > mostVisits {
			c.Refuse("duration", "up to %.3g requests would wait at once, some %.1f GB, and %.3g are the most; bound a queue, or write a shorter duration or a lower rate",
				waiting, waiting*float64(bytesEach)/1e9, float64(mostVisits))
			return c.Problems()
		}
	}
	if events += float64(len(s.Searches)) * searchRuns * events / float64(max(len(s.Arms), 1)); events > mostEvents {
		c.Refuse("duration", "the run may need %.3g events, some %.0f minutes, and %.3g are the most; write a shorter duration, fewer replications or a lower rate",
			events, events/5e6/60, float64(mostEvents))
	}
	return c.Problems()
}

// cost returns how many requests come, and how many visits to services they may
// cause if every attempt fails.
func (s *Scenario) cost() (requests, worst float64) {
	for i := range s.Loads {
		l := &s.Loads[i]
		n := l.meanRate(s.Duration) * s.Duration.Seconds()
		if l.Clients > 0 {
			each := max(s.takes(l.To)+l.Think.Mean(), time.Millisecond)
			n += float64(l.Clients) * s.Duration.Seconds() / each.Seconds()
		}
		for j := range s.Triggers {
			if t := &s.Triggers[j]; t.What == Spike && t.Of.Service == l.Name {
				n *= max(t.Factor, 1)
			}
		}
		requests += n
		worst += n * attemptsOf(l.Client, l.Guard) * s.visits(l.To)
	}
	return requests, worst
}

func attemptsOf(k *Client, g *Guard) float64 {
	switch {
	case g != nil:
		return float64(g.Retry.WithDefaults().Attempts)
	case k != nil && k.Retry != nil:
		// Patient clients spread theirs: no more than there is time for.
		return float64(min(k.Retry.WithDefaults().Attempts, 100))
	}
	return 1
}

// visits returns how many visits one to a target causes, itself included.
func (s *Scenario) visits(t Target) float64 {
	sum := 1.0
	v := s.find(t.Service)
	for _, to := range s.calls(t) {
		attempts := attemptsOf(v.Client, nil)
		for i := range v.Guards {
			if v.Guards[i].To == to.Service {
				attempts = attemptsOf(nil, &v.Guards[i])
			}
		}
		sum += attempts * s.visits(to)
	}
	return min(sum, math.MaxInt32)
}

// pile returns how many requests may come to wait at once, at most: what comes
// beyond the capacity, also by retries, and what comes while a trigger lasts.
func (s *Scenario) pile(requests float64) float64 {
	seconds := s.Duration.Seconds()
	capacity, most := s.Capacity(), 0.0
	for i := range s.Loads {
		most += float64(s.Loads[i].Clients)
	}
	attempts := 1.0
	for i := range s.Loads {
		attempts = max(attempts, attemptsOf(s.Loads[i].Client, s.Loads[i].Guard))
	}
	rate := requests / seconds * attempts
	if capacity > 0 && rate > capacity {
		most += (rate - capacity) * seconds
	}
	for i := range s.Triggers {
		t := &s.Triggers[i]
		most += rate * (t.end(s.Duration) - t.At).Seconds()
	}
	return min(most, requests*attempts)
}

// bytesEach is what a request that waits takes: its visit, its call, the slot
// of its attempt and an event.
const bytesEach = 1000
