package sim_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/kalan-go/kalan/policy/limit"
	"github.com/kalan-go/kalan/policy/retry"
	"github.com/kalan-go/kalan/policy/room"
	"github.com/kalan-go/kalan/policy/stack"
	"github.com/kalan-go/kalan/sim"
	"github.com/kalan-go/kalan/sim/random"
)

// The cases of public bug reports that are about what a system does over time.

func target(name string) sim.Target { return sim.Target{Service: name} }

func mustLaw(t *testing.T, text string) random.Law {
	t.Helper()
	l, err := random.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// over returns a mean of the series between two instants.
func over(a *sim.ArmResult, from, to time.Duration, of func(*sim.Moment) float64) float64 {
	sum, n := 0., 0.
	for i := range a.Series {
		if m := &a.Series[i]; m.At >= from && m.At < to {
			sum, n = sum+of(m), n+1
		}
	}
	return sum / n
}

func good(m *sim.Moment) float64    { return m.Good }
func offered(m *sim.Moment) float64 { return m.Offered }

// O-20: after three times the capacity for a minute, and a quiet one, the limit
// is back where it was.
func TestO20TheLimitComesBack(t *testing.T) {
	slow(t)
	a := mustRun(t, sim.Scenario{
		Name: "O-20", Replications: 5, Duration: 180 * second, Warmup: -1,
		Services: []sim.Service{{Name: "server", Workers: 16, Work: random.Constant(10 * ms)}},
		Loads: []sim.Load{{
			Name: "load", To: target("server"), Deadline: 400 * ms,
			Profile: []sim.Point{{Rate: 4800}, {At: 60 * second, Rate: 480}, {At: 120 * second, Rate: 1280}},
			Guard:   &sim.Guard{Config: stack.Config{Exchange: 400 * ms, Retry: retry.Config{Attempts: 1}}},
		}},
	})
	if most := over(a, 30*second, 60*second, func(m *sim.Moment) float64 { return m.Limit }); most > 40 {
		t.Errorf("the limit is %.1f in overload, the knee 16; want 40 at most", most)
	}
	if lost := 1 - over(a, 80*second, 120*second, good)/over(a, 80*second, 120*second, offered); lost > 0 {
		t.Errorf("%.3f %% are lost from 20 s after the drop, want none", 100*lost)
	}
	if lost := 1 - over(a, 125*second, 179*second, good)/over(a, 125*second, 179*second, offered); lost > .01 {
		t.Errorf("%.2f %% are lost at .8 of the capacity, want less than 1", 100*lost)
	}
}

// O-21: one lucky answer in two hundred is not how long the dependency takes,
// nor is the quick half of two kinds.
func TestO21OneFastAnswerIsNoBaseline(t *testing.T) {
	for _, law := range []string{"histogram 0 149ms 5 151ms 0 240ms 995 360ms", "values 1 5ms 1 300ms"} {
		a := mustRun(t, sim.Scenario{
			Name: "O-21", Replications: 2, Duration: 600 * second, Warmup: 30 * second,
			Services: []sim.Service{{Name: "server", Work: mustLaw(t, law)}},
			Loads: []sim.Load{{
				Name: "load", To: target("server"), Clients: 20,
				Guard: &sim.Guard{Config: stack.Config{Exchange: 2 * second, Retry: retry.Config{Attempts: 1}}},
			}},
		})
		if share := a.Loads[0].Refused.Mean; share >= .005 {
			t.Errorf("%s: %.2f %% are refused, want less than .5", law, 100*share)
		}
		least := a.Series[600].Limit
		for _, m := range a.Series[100:] {
			least = min(least, m.Limit)
		}
		if least < 20 {
			t.Errorf("%s: the limit falls to %v", law, least)
		}
	}
}

// O-22: ten clients that ask again at once, two slots: nobody is passed over
// while the room is not full, and nobody waits longer than its checkout.
func TestO22NobodyStarves(t *testing.T) {
	s := sim.Scenario{
		Name: "O-22", Replications: 1, Duration: 101 * second, Warmup: -1,
		Services: []sim.Service{{Name: "server", Work: random.Constant(5 * second)}},
		Loads: []sim.Load{{
			Name: "load", To: target("server"), Clients: 10,
			Guard: &sim.Guard{Config: stack.Config{Checkout: 60 * second, Limit: limit.Fixed(2), Room: room.Config{Waiting: 25}, Retry: retry.Config{Attempts: 1}}},
		}},
	}
	a := mustRun(t, s)
	if n := a.Loads[0].Answered; n < 38 || n > 40 {
		t.Errorf("%d are served in 100 s, want 40", n)
	}
	if wait := a.Latency.Max() - 5*second; wait > 25*second {
		t.Errorf("somebody waits %v, want 25s at most: four turns of ten", wait)
	}
	s.Loads[0].Clients = 0
	s.Loads[0].Rate = 1.2 // three times what two slots can do
	s.Loads[0].Guard.Checkout = 10 * second
	if wait := mustRun(t, s).Latency.Max() - 5*second; wait > 10*second {
		t.Errorf("somebody waits %v behind a checkout of 10s", wait)
	}
}

// O-23: nine tenants with one call each do not wait for the thousand of a tenth:
// between two calls of one, each other has at most its weight.
func TestO23TenantsTakeTurns(t *testing.T) {
	for weight, turns := range map[uint8]int{1: 10, 3: 12} {
		s := sim.Scenario{
			Name: "O-23", Replications: 1, Duration: 20 * second, Warmup: -1,
			Services: []sim.Service{{
				Name: "gateway", Script: []sim.Step{{Action: sim.Action{Call: target("server")}}},
				Guards: []sim.Guard{{To: "server", Config: stack.Config{
					Checkout: 60 * second, Limit: limit.Fixed(1), Room: room.Config{Waiting: 2000}, Retry: retry.Config{Attempts: 1},
				}}},
			}, {Name: "server", Work: random.Constant(10 * ms)}},
			Loads: []sim.Load{{Name: "H", To: target("gateway"), Bursts: []sim.Burst{{Calls: 1000}}, Weight: weight, Priority: 1}},
		}
		for i := range 9 {
			s.Loads = append(s.Loads, sim.Load{Name: fmt.Sprint("L", i+1), To: target("gateway"), Bursts: []sim.Burst{{At: 5 * ms, Calls: 1}}, Priority: 1})
		}
		a := mustRun(t, s)
		// One call is in service when they come, half done.
		worst := time.Duration(0)
		for _, l := range a.Loads[1:] {
			worst = max(worst, l.Latency.Max())
		}
		if most := 5*ms + time.Duration(turns)*10*ms; worst > most {
			t.Errorf("weight %d: the last of nine is served after %v, want %d turns: %v", weight, worst, turns, most)
		}
		if a.Loads[0].Answered != 1000 {
			t.Errorf("weight %d: %d of 1000 calls are served in the end", weight, a.Loads[0].Answered)
		}
	}
}

// O-40: a standstill of ten seconds is what those saw who came in it, by the
// time at which they wanted to send, not one slow sample.
func TestO40NothingIsOmitted(t *testing.T) {
	s := sim.Scenario{
		Name: "O-40", Replications: 1, Duration: 60 * second, Warmup: -1,
		Services: []sim.Service{{Name: "server", Work: random.Constant(ms)}},
		Loads:    []sim.Load{{Name: "load", To: target("server"), Rate: 100, Even: true}},
		Triggers: []sim.Trigger{{Name: "freeze", What: sim.Stall, Of: target("server"), At: 20 * second, For: 10 * second}},
	}
	a := mustRun(t, s)
	if n := a.Latency.Count(); n != 6000 {
		t.Errorf("%d samples, want 6000", n)
	}
	near(t, "p50", a.Latency.Quantile(.5).Seconds(), .001, .05)
	near(t, "p90", a.Latency.Quantile(.9).Seconds(), 4, .05)
	near(t, "p99", a.Latency.Quantile(.99).Seconds(), 9.4, .05)
	if a.Loads[0].ClosedLoop {
		t.Error("an open load is called closed")
	}
	// The same standstill as a closed loop sees it: one slow sample a client.
	s.Loads[0] = sim.Load{Name: "load", To: target("server"), Clients: 10, Think: random.Constant(99 * ms)}
	a = mustRun(t, s)
	if !a.Loads[0].ClosedLoop || a.Latency.Quantile(.99) > 2*ms {
		t.Errorf("closed loop %v, p99 %v", a.Loads[0].ClosedLoop, a.Latency.Quantile(.99))
	}
}
