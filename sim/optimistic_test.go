package sim_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/kalan-go/kalan/policy/retry"
	"github.com/kalan-go/kalan/sim"
	"github.com/kalan-go/kalan/sim/random"
)

// E15 as a scenario: the same writers, with the plan's own backoff. Published is
// a first wait of twice the base, so the base is 10 ms where waits double.
func TestE15AsAScenario(t *testing.T) {
	slow(t)
	b := open(t, published)
	for _, row := range []struct {
		jitter      retry.Jitter
		time, calls float64
		tolerance   float64
	}{
		{retry.AtOnce, 2014, 2420, .05}, {retry.Constant, 63924, 1871, .05}, {retry.Equal, 6839, 812, .05},
		{retry.Full, 4886, 794, .05}, {retry.Decorrelated, 4691, 1016, .12},
	} {
		ends, calls := fmt.Sprintf("E15 as a scenario: %v, ms", row.jitter), fmt.Sprintf("E15 as a scenario: %v, calls", row.jitter)
		const runs = 200
		seeds(t, func(t *testing.T, seed uint64) {
			took, sent := 0., 0.
			for run := range uint64(runs) {
				a := &play(t, contest(row.jitter, 1000*seed+run), sim.Options{}).Arms[0]
				if a.Loads[0].Answered != 100 {
					t.Fatalf("%d of 100 have written", a.Loads[0].Answered)
				}
				took, sent = took+in(a.Latency.Quantile(1))/runs, sent+float64(a.Services[0].Arrived)/runs
			}
			b.saw(ends, took)
			b.saw(calls, sent)
		})
		b.near(ends, row.time, row.tolerance, 3)
		b.near(calls, row.calls, .05, 1)
	}
}

// contest is a hundred writers of one row at one instant.
func contest(j retry.Jitter, seed uint64) sim.Scenario {
	plan := retry.Config{Attempts: 2000, Base: 10 * ms, Cap: 2 * second, Jitter: j}
	if j == retry.Decorrelated {
		plan.Base = 5 * ms
	}
	return sim.Scenario{
		Name: "contest", Seed: seed, Replications: 1, Duration: 150 * second, Warmup: -1,
		Services: []sim.Service{{Name: "row", Network: random.Normal(10*ms, 2*ms), Script: []sim.Step{{Action: sim.Action{
			Work: random.Normal(20*ms, 2828*ms/1000), Optimistic: true}}}}}, // back to the writer, and there again
		Loads: []sim.Load{{Name: "writers", To: target("row"), Bursts: []sim.Burst{{Calls: 100}}, Client: &sim.Client{Retry: &plan}}},
	}
}

// Who has read before another one wrote has lost, whoever began first; another
// key is another row, and each written version is good for the next reader.
func TestOptimisticWork(t *testing.T) {
	at := func(times ...int) (all []sim.Arrival) {
		for _, n := range times {
			all = append(all, sim.Arrival{At: second + time.Duration(n)*ms})
		}
		return all
	}
	for name, test := range map[string]struct {
		arrivals       []sim.Arrival
		keys           int
		good, attempts float64
	}{
		"one after the other":       {at(0, 11, 22), 1, 3, 3},
		"the second is too late":    {at(0, 5), 1, 1, 2},
		"and the third is not":      {at(0, 5, 12), 1, 2, 3},
		"all at once, of one row":   {at(0, 0, 0, 0, 0), 1, 1, 5},
		"all at once, of many rows": {at(0, 0, 0, 0, 0), 1_000_000, 5, 5},
	} {
		s := contest(retry.AtOnce, 1)
		s.Services[0].Network, s.Services[0].Script[0].Work = random.Law{}, random.Constant(10*ms)
		s.Loads[0].Bursts, s.Loads[0].Trace, s.Loads[0].Keys, s.Loads[0].Client = nil, test.arrivals, test.keys, nil
		l := &play(t, s, sim.Options{}).Arms[0].Loads[0]
		if float64(l.Answered) != test.good || float64(l.Requests) != test.attempts || math.Abs(l.Failed.Mean*test.attempts+test.good-test.attempts) > 1e-9 {
			t.Errorf("%s: %d of %d, want %v of %v", name, l.Answered, l.Requests, test.good, test.attempts)
		}
	}
}
