package sim

import (
	"math"
	"time"

	"github.com/kalan-go/kalan/internal/field"
	"github.com/kalan-go/kalan/internal/keys"
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/limit"
	"github.com/kalan-go/kalan/policy/span"
	"github.com/kalan-go/kalan/sim/internal/world"
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
	events, bytes := 0.0, 0.0
	for i := range max(len(s.Arms), 1) {
		arm := s
		if len(s.Arms) > 0 {
			arm = s.with(s.Arms[i])
		}
		events += arm.worst()*eventsEach*float64(s.Replications) + arm.looks()
		bytes += arm.memory()
		if waiting := arm.pile(); waiting > mostVisits {
			c.Refuse("duration", "up to %.3g requests would wait at once, some %.1f GB, and %.3g are the most; bound a queue, or write a shorter duration or a lower rate",
				waiting, waiting*float64(bytesEach)/1e9, float64(mostVisits))
			return c.Problems()
		}
	}
	if c.Add(s.checkSearches()); len(c.Problems()) > 0 {
		return c.Problems()
	}
	if c.Add(checkMemory(bytes, s.Duration)); len(c.Problems()) > 0 {
		return c.Problems()
	}
	if events += s.searchEvents(); events > mostEvents {
		c.Refuse("duration", "the run may need %.3g events, some %.0f minutes, and %.3g are the most; write a shorter duration, fewer replications or a lower rate",
			events, events/5e6/60, float64(mostEvents))
	}
	return c.Problems()
}

// checkSearches refuses a search that tries a value at which too many requests
// would wait.
func (s *Scenario) checkSearches() policy.Problems {
	var c field.Check
	for _, q := range s.Searches {
		arm, _ := s.Arm(q.Arm)
		q = q.withDefaults(&arm)
		most := q.at(arm, q.To)
		if waiting := most.pile(); waiting > mostVisits {
			c.Refuse(keys.Join(keys.Join("searches", q.Name), "to"), "up to %.3g requests would wait at once at %.4g, and %.3g are the most; write less, or bound a queue",
				waiting, q.To, float64(mostVisits))
		}
	}
	return c.Problems()
}

// searchEvents estimates the events of the searches, each at the value that
// costs most.
func (s *Scenario) searchEvents() (events float64) {
	for _, q := range s.Searches {
		arm, _ := s.Arm(q.Arm)
		q = q.withDefaults(&arm)
		most := q.at(arm, q.To)
		events += most.worst() * eventsEach * s.trials(q)
	}
	return events
}

// worst returns how many visits to services the scenario may cause, if every
// attempt fails.
func (s *Scenario) worst() (visits float64) {
	for i := range s.Loads {
		l := &s.Loads[i]
		visits += s.loadRate(l) * s.Duration.Seconds() * attemptsOf(l.Client, l.Guard) * s.visits(l.To)
	}
	return visits
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
		sum += attemptsOf(v.Client, v.guardOf(to.Service)) * s.visits(to)
	}
	return min(sum, math.MaxInt32)
}

// pile returns how many requests may come to wait at once, at most: what comes
// to a queue without a bound beyond what is served, also by retries, and what
// comes while a trigger lasts.
func (s *Scenario) pile() float64 {
	seconds, most := s.Duration.Seconds(), 0.0
	for i := range s.Loads {
		most += float64(s.Loads[i].Clients)
	}
	for i := range s.Services {
		v := &s.Services[i]
		if v.Queue.Places != 0 {
			continue
		}
		rate, served := 0.0, math.Inf(1)
		for j := range s.Loads {
			l := &s.Loads[j]
			if g := attemptsOf(l.Client, l.Guard); !bounded(l.Guard) {
				rate += (s.openRate(l)*g + s.leftRate(l)) * s.reach(l.To, v.Name)
			}
		}
		if each := s.takes(Target{Service: v.Name}).Seconds(); v.Workers > 0 && each > 0 {
			served = float64(v.Workers*max(v.Instances, 1)) / each
		}
		most += max(rate-served, 0) * seconds
		for j := range s.Triggers {
			if t := &s.Triggers[j]; t.Of.Service == v.Name && (t.What == Stall || t.What == Latency || t.What == Pause) {
				most += rate * (t.end(s.Duration) - t.At).Seconds()
			}
		}
	}
	return most
}

// reach returns how many visits to a service one to a target causes at most,
// but for those that a limit holds back.
func (s *Scenario) reach(t Target, service string) float64 {
	sum := 0.0
	if t.Service == service {
		sum = 1
	}
	v := s.find(t.Service)
	for _, to := range s.calls(t) {
		if g := v.guardOf(to.Service); !bounded(g) {
			sum += attemptsOf(v.Client, g) * s.reach(to, service)
		}
	}
	return min(sum, math.MaxInt32)
}

// bounded reports whether a guard lets only so many through at a time.
func bounded(g *Guard) bool { return g != nil && g.Limit.Kind != limit.Unlimited }

func (s *Service) guardOf(to string) *Guard {
	for i := range s.Guards {
		if s.Guards[i].To == to {
			return &s.Guards[i]
		}
	}
	return nil
}

// loadRate returns how many requests of a load come a second, spikes included.
func (s *Scenario) loadRate(l *Load) float64 {
	return s.openRate(l) + s.closedRate(l)
}

// closedRate returns how many of them its clients send in a closed loop while
// nobody has to wait.
func (s *Scenario) closedRate(l *Load) float64 {
	each := span.Add(span.Add(s.takes(l.To), l.Think.Mean()), span.Mul(s.find(l.To.Service).Network.Mean(), 2))
	if each == 0 {
		each = world.Breath
	}
	return float64(l.Clients) / each.Seconds()
}

// openRate returns how many of them come whatever becomes of those before.
func (s *Scenario) openRate(l *Load) float64 {
	rate := l.meanRate(s.Duration)
	for j := range s.Triggers {
		if t := &s.Triggers[j]; t.What == Spike && t.Of.Service == l.Name {
			rate *= max(t.Factor, 1)
		}
	}
	return rate
}

// leftRate returns how many attempts a second the clients of a closed loop leave
// behind at most. While they wait each of them has one: only somebody who gives
// up, they or a service on the way, can have another one wait as well.
func (s *Scenario) leftRate(l *Load) float64 {
	if patience := s.shortest(l); l.Clients > 0 && patience > 0 {
		return float64(l.Clients) / patience.Seconds()
	}
	return 0
}

// shortest returns the shortest time that anybody waits on the way of a load's
// requests; 0: all wait for ever.
func (s *Scenario) shortest(l *Load) time.Duration {
	least := time.Duration(math.MaxInt64)
	waits := func(d time.Duration) {
		if d > 0 {
			least = min(least, d)
		}
	}
	caller := func(k *Client, g *Guard) {
		switch {
		case g != nil:
			waits(g.Config.WithDefaults().Exchange)
		case k != nil:
			waits(k.Timeout)
		}
	}
	waits(l.Deadline)
	caller(l.Client, l.Guard)
	known := map[Target]bool{}
	var visit func(t Target)
	visit = func(t Target) {
		if known[t] {
			return
		}
		known[t] = true
		v := s.find(t.Service)
		waits(v.promise(t.Route))
		for _, to := range s.calls(t) {
			caller(v.Client, v.guardOf(to.Service))
			visit(to)
		}
	}
	if visit(l.To); least < math.MaxInt64 {
		return least
	}
	return 0
}

// bytesEach is what a request that waits takes: its visit, its call, the slot
// of its attempt and an event.
const bytesEach = 1000
