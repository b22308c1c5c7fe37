package sim_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/kalan-go/kalan/policy/budget"
	"github.com/kalan-go/kalan/policy/retry"
	"github.com/kalan-go/kalan/sim"
	"github.com/kalan-go/kalan/sim/random"
)

const second = time.Second

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

// always fails the test unless every run of a seed had the verdict; want is how
// many there are.
func (b *book) always(row string, want int) {
	b.t.Helper()
	b.between(row, fmt.Sprint(want, " of ", want), float64(want), float64(want))
}

// rates returns goodput and attempts a second over a stretch of a run.
func rates(a *sim.ArmResult, from, to time.Duration) (good, attempts float64) {
	n := 0.0
	for i := range a.Series {
		if m := &a.Series[i]; m.At >= from && m.At < to {
			good, attempts, n = good+m.Good, attempts+m.Attempts, n+1
		}
	}
	return good / n, attempts / n
}

// seeded is a scenario with a seed.
func seeded(s sim.Scenario, seed uint64) sim.Scenario {
	s.Seed = seed
	return s
}

// tips returns how many runs of a scenario have a verdict.
func tips(t *testing.T, s sim.Scenario, v sim.Verdict) float64 {
	t.Helper()
	return float64(mustRun(t, s).Verdicts[v])
}

// E1: never again, although the server is well.
func TestE1RetriesKeepItDown(t *testing.T) {
	b := open(t, published)
	seeds(t, func(t *testing.T, seed uint64) {
		a := mustRun(t, seeded(storm(280, 2, 150*second), seed))
		good, attempts := rates(a, 80*second, 140*second)
		b.saw("E1: metastable", float64(a.Verdicts[sim.Metastable]))
		b.saw("E1: goodput/s after the stop", good)
		b.saw("E1: attempts/s after the stop", attempts)
	})
	b.always("E1: metastable", 10)
	b.between("E1: goodput/s after the stop", "0", 0, 0)
	b.near("E1: attempts/s after the stop", 557, .05, 1)
}

// The time to recover from a backlog behind a queue is (B - mu tau)/(mu -
// lambda amplification): E2, and E3 below the boundary. The deviation of one run
// is 14, 17 and 47 s, so a seed would need some 300 runs for itself.
func TestE2E3Recovery(t *testing.T) {
	slow(t)
	b := open(t, published)
	for _, row := range []struct {
		name           string
		lambda         float64
		n, runs        int
		long           time.Duration
		seconds, needs float64
	}{
		{"E2: (2800 - 300)/20, s to recover", 280, 1, 64, 280 * second, 125, 310},
		{"E3: at 140/s, s to recover", 140, 2, 52, 280 * second, 118, 250},
		{"E3: at 145/s, s to recover", 145, 2, 48, 600 * second, 245, 230},
	} {
		seeds(t, func(t *testing.T, seed uint64) {
			s := seeded(storm(row.lambda, row.n, row.long), seed)
			s.Replications = row.runs
			a := mustRun(t, s)
			if back := a.Verdicts[sim.Recovers]; back < row.runs*9/10 {
				t.Errorf("%s: %d of %d recover: %v", row.name, back, row.runs, a.Verdicts)
			}
			b.saw(row.name, a.Recovery.Mean)
		})
		b.near(row.name, row.seconds, .05, row.needs/float64(row.runs))
	}
}

// E3: the boundary is mu/n = 150. Not far below it a run that is too short to see
// the end is a slow drain, and is not called metastable.
func TestE3Boundary(t *testing.T) {
	slow(t)
	b := open(t, published)
	seeds(t, func(t *testing.T, seed uint64) {
		b.saw("E3: metastable at 155/s", tips(t, seeded(storm(155, 2, 240*second), seed), sim.Metastable))
		b.saw("E3: metastable at 200/s", tips(t, seeded(storm(200, 2, 240*second), seed), sim.Metastable))
		b.saw("E3: slow drains at 145/s, seen for 80 s", tips(t, seeded(storm(145, 2, 150*second), seed), sim.SlowDrain))
	})
	b.always("E3: metastable at 155/s", 10)
	b.always("E3: metastable at 200/s", 10)
	b.between("E3: slow drains at 145/s, seen for 80 s", "most of 10", 6, 10)
}

// Below 1/n, with a budget r for each call below 1/(1 + r) = .909, a system heals
// itself whatever the trigger; a budget bounds the storm, and clears no backlog.
func TestHealsBelowTheBoundary(t *testing.T) {
	slow(t)
	b := open(t, published)
	capped := func(lambda float64, long time.Duration, seed uint64) sim.Scenario {
		s := seeded(storm(lambda, 2, long), seed)
		s.Loads[0].Client.Budget = &budget.Config{Ratio: .1}
		return s
	}
	const below, above, bounded = "budget of .1: heal at rho .83", "budget of .1: metastable at rho .95", "budget of .1: attempts for each call at rho .95"
	const stop = "n = 2, rho .3: heal from a stop of 30 s"
	seeds(t, func(t *testing.T, seed uint64) {
		b.saw(below, tips(t, capped(250, 300*second, seed), sim.Recovers))
		a := mustRun(t, capped(285, 200*second, seed))
		b.saw(above, float64(a.Verdicts[sim.Metastable]))
		good, attempts := rates(a, 90*second, 190*second)
		b.saw(bounded, attempts/285)
		if good > 0 {
			t.Errorf("%v are answered behind a backlog", good)
		}
		s := seeded(storm(90, 2, 200*second), seed)
		s.Triggers[0].For = 30 * second
		b.saw(stop, tips(t, s, sim.Recovers))
	})
	b.always(below, 10)
	b.always(above, 10)
	b.near(bounded, 1.1, .05, 1)
	b.always(stop, 10)
}

// E5: a bound below mu tau heals, one above it does not.
func TestE5QueueBound(t *testing.T) {
	slow(t)
	b := open(t, published)
	for _, places := range []int{150, 290, 450} {
		row := fmt.Sprintf("E5: a bound of %d", places)
		seeds(t, func(t *testing.T, seed uint64) {
			s := seeded(storm(280, 2, 140*second), seed)
			s.Services[0].Queue.Places = places
			a := mustRun(t, s)
			if places == 450 {
				b.saw(row+": metastable", float64(a.Verdicts[sim.Metastable]))
				return
			}
			b.saw(row+": recover", float64(a.Verdicts[sim.Recovers]))
			b.saw(row+": s to recover", a.Recovery.Mean)
		})
		if places == 450 {
			b.always(row+": metastable", 10)
			continue
		}
		b.always(row+": recover", 10)
		b.between(row+": s to recover", "under 1", 0, 1)
	}
}

// fixed returns whether the loop of load and timeouts has a stable point below
// collapse: x = lambda (1 - p^n)/(1 - p), p = e^-((mu - x) tau).
func fixed(rho, muTau float64, n int) bool {
	x := rho
	for range 200_000 {
		p := math.Exp(-(1 - x) * muTau)
		next := rho * (1 - math.Pow(p, float64(n))) / (1 - p)
		if next >= 1 {
			return false
		}
		if next-x < 1e-13 {
			return true
		}
		x = next
	}
	return true
}

// Above rho_c it collapses without a trigger: the table, by bisection.
func TestFixedPoint(t *testing.T) {
	b := open(t, published)
	for n, want := range [][5]float64{2: {.5853, .7047, .8107, .9038, .9445}, 3: {.5507, .6947, .8081, .9034, .9444}} {
		if n < 2 {
			continue
		}
		for i, muTau := range []float64{5, 10, 20, 50, 100} {
			low, high := .3, 1.
			for high-low > 1e-6 {
				if middle := (low + high) / 2; fixed(middle, muTau, n) {
					low = middle
				} else {
					high = middle
				}
			}
			row := fmt.Sprintf("rho_c, n = %d, mu tau = %v", n, muTau)
			b.saw(row, low)
			b.apart(row, want[i], 1e-4)
		}
	}
}

// The simulation has the same boundary: below rho_c a system without a trigger
// stays up, 5 % above it does not. The shorter the patience, the further below: at
// nine tenths of rho_c and a mu tau of 50 the noise of the queue itself is a trigger,
// for one run in ten within 400 s.
func TestCollapseWithoutATrigger(t *testing.T) {
	slow(t)
	b := open(t, published)
	for _, row := range []struct {
		muTau, critical, below float64
		n                      int
	}{{50, .9038, .75, 2}, {50, .9034, .75, 3}, {100, .9445, .9, 2}, {100, .9444, .9, 3}} {
		stable, collapsed := fmt.Sprintf("stable at %v rho_c", row.below), "collapsed at 1.05 rho_c"
		name := fmt.Sprintf("no trigger, n = %d, mu tau = %v: ", row.n, row.muTau)
		seeds(t, func(t *testing.T, seed uint64) {
			s := seeded(storm(0, row.n, 400*second), seed)
			s.Replications = 3
			s.Triggers, s.Warmup = nil, 200*second
			s.Loads[0].Client.Timeout = sec(row.muTau / 300)
			s.Loads[0].Rate = 300 * row.critical * row.below
			b.saw(name+stable, tips(t, s, sim.Stable))
			s.Loads[0].Rate = 300 * row.critical * 1.05
			b.saw(name+collapsed, tips(t, s, sim.Collapsed))
		})
		b.always(name+stable, 3)
		b.always(name+collapsed, 3)
	}
}

// The critical stall: half of the runs tip at D*, which is found between .05 tau
// below it and .05 tau above (M/D/1, n = 3, mu tau = 100). Between these the share that
// tips grows by about a third, so a hundred runs at each end know D* within .01.
func TestCriticalStall(t *testing.T) {
	slow(t)
	b := open(t, published)
	for _, row := range []struct {
		rho, critical float64
		runs          int
	}{{.4, 1.75, 150}, {.5, 1.53, 500}, {.6, 1.32, 150}, {.7, 1.14, 150}, {.8, .99, 150}} {
		name := fmt.Sprintf("critical stall D*/tau at rho %v", row.rho)
		seeds(t, func(t *testing.T, seed uint64) {
			tipped := func(off float64) float64 {
				s := seeded(storm(100*row.rho, 3, 36*second), seed)
				s.Replications = row.runs
				s.Services[0].Work = random.Constant(10 * ms)
				s.Triggers[0].At, s.Triggers[0].For = 12*second, sec(row.critical+off)
				v := mustRun(t, s).Verdicts
				return 1 - float64(v[sim.Stable]+v[sim.Recovers])/float64(row.runs)
			}
			low, high := tipped(-.05), tipped(.05)
			if high < low+.1 {
				t.Errorf("%s: %v tip below and %v above", name, low, high)
			}
			b.saw(name, row.critical-.05+.1*(.5-low)/(high-low))
		})
		b.together(name, row.critical, .05, .03)
	}
}
