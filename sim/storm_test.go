package sim_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/kalan-go/kalan/policy/retry"
	"github.com/kalan-go/kalan/sim"
	"github.com/kalan-go/kalan/sim/random"
)

const (
	second = time.Second
)

// storm is E1: M/M/1 with 300 services a second, callers who wait a second and
// try n times at once, and a server that stands still for ten seconds.
func storm(lambda float64, n int, duration time.Duration) sim.Scenario {
	return sim.Scenario{
		Name: "storm", Replications: 10, Duration: duration, Warmup: 10 * second,
		Services: []sim.Service{{Name: "server", Workers: 1, Work: random.Exponential(second / 300)}},
		Loads: []sim.Load{{
			Name: "clients", To: sim.Target{Service: "server"}, Rate: lambda,
			Client: &sim.Client{Timeout: second, Retry: &retry.Config{Attempts: n, Jitter: retry.AtOnce}},
		}},
		Triggers: []sim.Trigger{{Name: "stop", What: sim.Stall, Of: sim.Target{Service: "server"}, At: 60 * second, For: 10 * second}},
	}
}

func TestLookAtStorms(t *testing.T) {
	show := func(name string, s sim.Scenario) {
		r, err := sim.Run(s, sim.Options{})
		if err != nil {
			t.Fatal(name, err)
		}
		a := &r.Arms[0]
		after := func(f func(m *sim.Moment) float64) float64 {
			sum, n := 0.0, 0.0
			for i := range a.Series {
				if a.Series[i].At >= 75*second {
					sum, n = sum+f(&a.Series[i]), n+1
				}
			}
			return sum / n
		}
		before := 0.0
		for i := range a.Series {
			if m := &a.Series[i]; m.At >= 10*second && m.At < 60*second {
				before += m.Good / 500
			}
		}
		t.Logf("%-14s %v %v recovery %v before %.1f goodput %.1f attempts %.1f after", name, a.Verdict, a.Verdicts, a.Recovery, before,
			after(func(m *sim.Moment) float64 { return m.Good }), after(func(m *sim.Moment) float64 { return m.Attempts }))
	}
	show("E1", storm(280, 2, 200*second))
	show("E2", storm(280, 1, 300*second))
	for _, l := range []float64{140, 145, 155, 200} {
		show(fmt.Sprint("E3 ", l), storm(l, 2, 600*second))
	}
	for _, k := range []int{150, 290, 450} {
		s := storm(280, 2, 200*second)
		s.Services[0].Queue.Places = k
		show(fmt.Sprint("E5 ", k), s)
	}
	s := storm(280, 2, 200*second)
	s.Services[0].Queue.Order = sim.Newest
	show("E6 lifo", s)
	s = storm(280, 2, 200*second)
	s.Services[0].Queue.Expired = true
	s.Loads[0].Client.Carry = true
	show("E6 expired", s)
	s = storm(280, 2, 200*second)
	s.Loads[0].Client.Retry = &retry.Config{Attempts: 2, Base: second}
	show("E6 jitter", s)
	s = storm(280, 2, 200*second)
	s.Services[0].Queue.Target, s.Services[0].Queue.Interval = 5*ms, 100*ms
	show("E7 codel", s)
}
