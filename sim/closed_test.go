package sim_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/kalan-go/kalan/cache"
	"github.com/kalan-go/kalan/policy/budget"
	"github.com/kalan-go/kalan/policy/retry"
	"github.com/kalan-go/kalan/sim"
	"github.com/kalan-go/kalan/sim/internal/world"
	"github.com/kalan-go/kalan/sim/random"
)

// layers is a chain of k services above one that fails with probability p; each
// caller makes up to n attempts.
func layers(k, n int, p float64, cap *budget.Config) sim.Scenario {
	client := func() *sim.Client {
		return &sim.Client{Retry: &retry.Config{Attempts: n, Jitter: retry.AtOnce}, Budget: cap}
	}
	s := sim.Scenario{
		Name: "layers", Replications: 1, Duration: 100 * time.Second, Warmup: -1,
		Services: []sim.Service{{Name: "s1", Errors: p}},
	}
	for i := 2; i <= k; i++ {
		s.Services = append(s.Services, sim.Service{
			Name: fmt.Sprint("s", i), Client: client(),
			Script: []sim.Step{{Action: sim.Action{Call: sim.Target{Service: fmt.Sprint("s", i-1)}}}},
		})
	}
	s.Loads = []sim.Load{{Name: "load", To: sim.Target{Service: fmt.Sprint("s", k)}, Rate: 1000, Even: true, Client: client()}}
	return s
}

func mustRun(t testing.TB, s sim.Scenario) *sim.ArmResult {
	t.Helper()
	if s.Name == "" {
		s.Name = t.Name()
	}
	if err := s.Validate().Err(); err != nil {
		t.Fatal(err)
	}
	r, err := sim.Run(s, sim.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &r.Arms[0]
}

// share returns how often a service was called for each request.
func share(a *sim.ArmResult, service string) float64 {
	for _, s := range a.Services {
		if s.Name == service {
			return float64(s.Arrived) / float64(a.Loads[0].Requests)
		}
	}
	return 0
}

// Attempts with failure probability p: (1 - p^n)/(1 - p), and 1 - p^n of them
// succeed.
func TestAttemptsOfOneLayer(t *testing.T) {
	b := open(t, forms)
	for _, row := range []struct{ p, attempts, success float64 }{{.1, 1.11, .999}, {.5, 1.75, .875}, {.9, 2.71, .271}} {
		calls, answered := fmt.Sprintf("3 attempts, p = %v: attempts", row.p), fmt.Sprintf("3 attempts, p = %v: success", row.p)
		seeds(t, func(t *testing.T, seed uint64) {
			a := mustRun(t, seeded(layers(1, 3, row.p, nil), seed))
			b.saw(calls, a.Amplification.Mean)
			b.saw(answered, a.Goodput.Mean/a.Offered.Mean)
		})
		// Of 100,000 calls the share that succeeds is known within
		// sqrt((1 - s)/(s n)), .5 % for the last row.
		b.near(calls, row.attempts, .01, 1)
		b.near(answered, row.success, .01, max(1, 16*(1-row.success)/row.success/100_000/1e-4))
	}
}

// Calls at the bottom of k layers with three attempts each. The numbers of calls
// of 60,000 requests have deviations of up to .4 %.
func TestAttemptsOfManyLayers(t *testing.T) {
	slow(t)
	b := open(t, forms)
	for _, row := range []struct {
		p, rate float64
		calls   [5]float64
	}{
		{.5, 1000, [5]float64{1.75, 1.996, 2, 2, 2}},
		{.9, 1000, [5]float64{2.71, 6.126, 9.419, 9.998, 10}},
		{1, 1, [5]float64{3, 9, 27, 81, 243}},
	} {
		for k, want := range row.calls {
			name := fmt.Sprintf("%d layers of 3, p = %v: calls at the bottom", k+1, row.p)
			seeds(t, func(t *testing.T, seed uint64) {
				s := seeded(layers(k+1, 3, row.p, nil), seed)
				s.Loads[0].Rate, s.Duration = row.rate, 60*second
				b.saw(name, share(mustRun(t, s), "s1"))
			})
			b.near(name, want, .01, 3)
		}
	}
}

// E20: five layers of three attempts are 243 calls, three of four 64.
func TestE20LayersMultiply(t *testing.T) {
	b := open(t, published)
	for _, row := range []struct{ k, n, calls int }{{5, 3, 243}, {3, 4, 64}} {
		name := fmt.Sprintf("E20: %d layers of %d attempts, calls at p = 1", row.k, row.n)
		seeds(t, func(t *testing.T, seed uint64) {
			s := seeded(layers(row.k, row.n, 1, nil), seed)
			s.Loads[0].Rate = 1
			a := mustRun(t, s)
			b.saw(name, share(a, "s1"))
			if a.Amplifies == "" {
				t.Error("no edge is named that amplifies")
			}
		})
		b.between(name, fmt.Sprint(row.calls), float64(row.calls), float64(row.calls))
	}
}

// A budget that is deposited by calls caps amplification at 1 + r, and changes
// nothing where retries are rarer.
func TestRetryBudget(t *testing.T) {
	b := open(t, forms)
	for _, row := range []struct{ p, ratio, amplification float64 }{
		{.05, .1, 1.0525}, {.5, .1, 1.1}, {1, .1, 1.1}, {1, .3, 1.3}, {.2, .5, 1.24},
	} {
		name := fmt.Sprintf("budget of %v for each call, p = %v: amplification", row.ratio, row.p)
		seeds(t, func(t *testing.T, seed uint64) {
			b.saw(name, mustRun(t, seeded(layers(1, 3, row.p, &budget.Config{Ratio: row.ratio, Floor: -1}), seed)).Amplification.Mean)
		})
		b.near(name, row.amplification, .01, 1)
	}
}

// O-14: three hops of three attempts, the last hop failing, 100 requests a
// second: about 2,700 calls there, and at most 134 with a budget of a tenth at
// each hop.
func TestRetriesAtSeveralLayersMultiply(t *testing.T) {
	for _, row := range []struct {
		budget    *budget.Config
		low, high float64
	}{{nil, 2690, 2710}, {&budget.Config{Ratio: .1, Floor: -1}, 100, 134}} {
		s := layers(3, 3, 1, row.budget)
		s.Loads[0].Rate = 100
		a := mustRun(t, s)
		if rate := share(a, "s1") * 100; rate < row.low || rate > row.high {
			t.Errorf("%.0f calls a second reach the last hop, want %v to %v", rate, row.low, row.high)
		}
	}
}

// Full jitter from 100 ms to 20 s: each wait's mean is half of its maximum, the
// deviation that of a uniform law, and the means add up as in the table.
func TestFullJitter(t *testing.T) {
	c := retry.Config{Attempts: 10, Base: 100 * ms, Cap: 20 * second}
	b := open(t, forms)
	sums := []float64{.05, .15, .35, .75, 1.55, 3.15, 6.35, 12.75, 22.75}
	const half, deviation = "full jitter: mean of a wait, of its maximum", "full jitter: deviation of a wait, of its maximum"
	seeds(t, func(t *testing.T, seed uint64) {
		dice, sum := random.Of(7, seed), 0.0
		const draws = 100_000 // deviations of .2 % of the means
		for n := range sums {
			mean, squares := 0.0, 0.0
			for range draws {
				x := c.Wait(n, 0, dice.Uint64()).Seconds()
				mean, squares = mean+x/draws, squares+x*x/draws
			}
			most := c.Schedule(n).Seconds()
			b.saw(half, mean/most)
			b.saw(deviation, math.Sqrt(squares-mean*mean)/most)
			sum += mean
			b.saw(fmt.Sprintf("full jitter: mean of all waits up to %d, s", n+1), sum)
		}
	})
	b.near(half, .5, .01, 1)
	b.near(deviation, 1/math.Sqrt(12), .01, 1)
	for n, want := range sums {
		b.near(fmt.Sprintf("full jitter: mean of all waits up to %d, s", n+1), want, .01, 1)
	}
}

// cached is one value that takes a second to load, asked for at a rate.
func cached(rate, beta float64, oneFlight bool, lifetime, long time.Duration) sim.Scenario {
	return sim.Scenario{
		Name: "cache", Replications: 2, Duration: 100*second + long, Warmup: 100 * second,
		Services: []sim.Service{{
			Name:   "app",
			Caches: []sim.Cache{{Name: "value", Lifetime: lifetime, Beta: beta, OneFlight: oneFlight}},
			Script: []sim.Step{{Cache: "value", Miss: []sim.Action{{Work: random.Constant(second)}}}},
		}},
		Loads: []sim.Load{{Name: "readers", To: sim.Target{Service: "app"}, Rate: rate}},
	}
}

// XFetch with lambda D readers in the time of a load: the first refresh leads
// by about beta D (ln(lambda beta D) + .5772), a Gumbel law, and e^(1/beta) are
// made for each expiry in the limit; without it 1 + lambda D are, after the end.
func TestEarlyRefresh(t *testing.T) {
	slow(t)
	b := open(t, forms)
	for _, row := range []struct{ rate, lead, life, long, naive float64 }{
		{10, 2.880, 10, 24_000, 6000}, {100, 5.182, 12, 18_000, 1000}, {1000, 7.485, 13, 6000, 500},
	} {
		lead, loads := fmt.Sprintf("XFetch, lambda D = %v: lead of the first, D", row.rate), fmt.Sprintf("naive cache, lambda D = %v: loads for an expiry", row.rate)
		refreshes := fmt.Sprintf("XFetch, lambda D = %v: refreshes for an expiry", row.rate)
		seeds(t, func(t *testing.T, seed uint64) {
			c := mustRun(t, seeded(cached(row.rate, 1, false, sec(row.life), sec(row.long)), seed)).Caches[0]
			b.saw(lead, c.Lead.Seconds())
			b.saw(refreshes, float64(c.Early)/float64(c.Rounds))
			c = mustRun(t, seeded(cached(row.rate, 0, false, 2*second, sec(row.naive)), seed)).Caches[0]
			b.saw(loads, float64(c.Misses)/float64(c.Rounds))
		})
		b.near(lead, row.lead, .01, 4.8)
		b.near(loads, 1+row.rate, .01, 4.5)
		if row.rate == 100 { // below it the limit is not reached, above it a round takes long to play
			b.near(refreshes, math.E, .03, 3.5)
		}
	}
}

// Nobody refreshes in time with probability e^(-lambda beta D), and with x left a
// reader does with e^(-x/(beta D)).
func TestProbabilityOfAnEarlyRefresh(t *testing.T) {
	slow(t)
	b := open(t, forms)
	for _, row := range []struct{ rate, long, short float64 }{{1, 200_000, 3.5}, {2, 1_200_000, 4.8}} {
		name := fmt.Sprintf("XFetch, lambda D = %v: P(no early refresh)", row.rate)
		seeds(t, func(t *testing.T, seed uint64) {
			c := mustRun(t, seeded(cached(row.rate, 1, true, 8*second, sec(row.long)), seed)).Caches[0]
			b.saw(name, float64(c.Misses)/float64(c.Rounds))
			if early := float64(c.Early+c.Misses) / float64(c.Rounds); early > 1.001 {
				t.Errorf("%v loads for each expiry in one flight", early)
			}
		})
		b.near(name, math.Exp(-row.rate), .01, row.short)
	}
	for _, row := range []struct{ left, beta float64 }{{.5, 1}, {1, 1}, {2, 1}, {1, 2}} {
		name := fmt.Sprintf("XFetch, beta = %v: P(refresh with %v D left)", row.beta, row.left)
		p := math.Exp(-row.left / row.beta)
		seeds(t, func(t *testing.T, seed uint64) {
			dice, early := random.Of(seed, random.Name("early")), 0.
			const draws = 1_500_000
			for range draws {
				if world.Early(sec(row.left), second, row.beta, dice.Float64()) {
					early++
				}
			}
			b.saw(name, early/draws)
		})
		b.near(name, p, .01, 1)
	}
}

// The simulator's rule for an early refresh is that of package cache.
func TestEarlyRefreshIsTheCaches(t *testing.T) {
	s := random.Of(3)
	for range 100_000 {
		remaining, compute := time.Duration(s.IntN(1000)), time.Duration(s.IntN(300))
		beta, u := 2*s.Float64(), s.Float64()
		if world.Early(remaining, compute, beta, u) != cache.Early(remaining, compute, beta, u) {
			t.Fatalf("%v left of %v, beta %v, u %v", remaining, compute, beta, u)
		}
	}
}

// A hedge at the 95th percentile of Exp(1) costs five per cent, and moves p99
// from 4.605 to 3.801 and p99.9 from 6.908 to 4.952.
func TestHedging(t *testing.T) {
	slow(t)
	b := open(t, forms)
	want := map[string][3]float64{"alone": {1, 4.605, 6.908}, "hedged at p95": {1.05, 3.801, 4.952}}
	for _, arm := range []string{"alone", "hedged at p95"} {
		name := "Exp(1), " + arm + ": "
		plan := retry.Config{Attempts: 1}
		if arm != "alone" {
			plan = retry.Config{Attempts: 2, Hedge: retry.Hedge{After: sec(math.Log(20))}}
		}
		seeds(t, func(t *testing.T, seed uint64) {
			a := mustRun(t, sim.Scenario{
				Name: "hedge", Seed: seed, Replications: 2, Duration: 550 * second, Warmup: 50 * second,
				Services: []sim.Service{{Name: "server", Work: random.Exponential(second)}},
				Loads:    []sim.Load{{Name: "load", To: target("server"), Rate: 1000, Client: &sim.Client{Retry: &plan}}},
			})
			b.saw(name+"load", a.Amplification.Mean)
			b.saw(name+"p99, s", a.Latency.Quantile(.99).Seconds())
			b.saw(name+"p99.9, s", a.Latency.Quantile(.999).Seconds())
		})
		b.near(name+"load", want[arm][0], .01, 1)
		b.near(name+"p99, s", want[arm][1], .01, 1)
		b.near(name+"p99.9, s", want[arm][2], .02, 1)
	}
}

// A budget that is deposited by successes: x retries for each call, with
// x = d (1 - p)/(1 - d (1 - p)). It gives least when it would help most.
func TestBudgetBySuccess(t *testing.T) {
	b := open(t, forms)
	for _, row := range []struct{ p, deposit float64 }{{.5, .1}, {.9, .1}, {.5, .5}, {.8, .3}} {
		name := fmt.Sprintf("budget of %v for each success, p = %v: retries for a call", row.deposit, row.p)
		seeds(t, func(t *testing.T, seed uint64) {
			s := random.Of(21, seed, math.Float64bits(row.p))
			tokens, retries := 0., 0.
			const calls = 2_000_000
			for range calls {
				for s.Float64() < row.p {
					if tokens < 1 {
						tokens -= row.deposit // what the loop's end gives back: this one failed
						break
					}
					tokens--
					retries++
				}
				tokens += row.deposit
			}
			b.saw(name, retries/calls)
		})
		credit := row.deposit * (1 - row.p)
		b.near(name, credit/(1-credit), .01, 1)
	}
}
