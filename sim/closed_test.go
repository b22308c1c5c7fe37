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
	for _, row := range []struct{ p, attempts, success float64 }{{.1, 1.11, .999}, {.5, 1.75, .875}, {.9, 2.71, .271}} {
		a := mustRun(t, layers(1, 3, row.p, nil))
		near(t, fmt.Sprint("attempts at ", row.p), a.Amplification.Mean, row.attempts, .01)
		near(t, fmt.Sprint("success at ", row.p), a.Goodput.Mean/a.Offered.Mean, row.success, .02)
	}
}

// Calls at the bottom of k layers with three attempts each.
func TestAttemptsOfManyLayers(t *testing.T) {
	slow(t)
	for _, row := range []struct {
		p, rate float64
		calls   [5]float64
	}{
		{.5, 1000, [5]float64{1.75, 1.996, 2, 2, 2}},
		{.9, 1000, [5]float64{2.71, 6.126, 9.419, 9.998, 10}},
		{1, 1, [5]float64{3, 9, 27, 81, 243}},
	} {
		for k, want := range row.calls {
			s := layers(k+1, 3, row.p, nil)
			s.Loads[0].Rate = row.rate
			near(t, fmt.Sprintf("calls through %d layers at %v", k+1, row.p), share(mustRun(t, s), "s1"), want, .01)
		}
	}
}

// E20: five layers of three attempts are 243 calls, three of four 64.
func TestLayersMultiply(t *testing.T) {
	for _, row := range []struct{ k, n, calls int }{{5, 3, 243}, {3, 4, 64}} {
		s := layers(row.k, row.n, 1, nil)
		s.Loads[0].Rate = 1
		a := mustRun(t, s)
		if got := share(a, "s1"); got != float64(row.calls) {
			t.Errorf("%d layers of %d attempts make %v calls, want %d", row.k, row.n, got, row.calls)
		}
		if a.Amplifies == "" {
			t.Error("no edge is named that amplifies")
		}
	}
}

// A budget that is deposited by calls caps amplification at 1 + r, and changes
// nothing where retries are rarer.
func TestRetryBudget(t *testing.T) {
	for _, row := range []struct{ p, ratio, amplification float64 }{
		{.05, .1, 1.0525}, {.5, .1, 1.1}, {1, .1, 1.1}, {1, .3, 1.3}, {.2, .5, 1.24},
	} {
		a := mustRun(t, layers(1, 3, row.p, &budget.Config{Ratio: row.ratio, Floor: -1}))
		near(t, fmt.Sprintf("amplification at p %v with a budget of %v", row.p, row.ratio), a.Amplification.Mean, row.amplification, .01)
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
	seeds := random.Of(7)
	const draws = 100_000
	sum := 0.0
	for n, want := range []float64{.05, .15, .35, .75, 1.55, 3.15, 6.35, 12.75, 22.75} {
		mean, squares := 0.0, 0.0
		for range draws {
			x := c.Wait(n, 0, seeds.Uint64()).Seconds()
			mean, squares = mean+x/draws, squares+x*x/draws
		}
		most := c.Schedule(n).Seconds()
		near(t, fmt.Sprint("mean of wait ", n), mean, most/2, .01)
		near(t, fmt.Sprint("deviation of wait ", n), math.Sqrt(squares-mean*mean), most/math.Sqrt(12), .01)
		sum += mean
		near(t, fmt.Sprint("sum up to wait ", n), sum, want, .01)
	}
}

// cached is one value that takes a second to load, asked for at a rate.
func cached(rate, beta float64, oneFlight bool) sim.Scenario {
	return sim.Scenario{
		Name: "cache", Replications: 4, Duration: 4000 * second, Warmup: 100 * second,
		Services: []sim.Service{{
			Name:   "app",
			Caches: []sim.Cache{{Name: "value", Lifetime: 20 * second, Beta: beta, OneFlight: oneFlight}},
			Script: []sim.Step{{Cache: "value", Miss: []sim.Action{{Work: random.Constant(second)}}}},
		}},
		Loads: []sim.Load{{Name: "readers", To: sim.Target{Service: "app"}, Rate: rate}},
	}
}

// XFetch with lambda D readers in the time of a load: the first refresh leads
// by about beta D (ln(lambda beta D) + .5772), and e^(1/beta) are made for each
// expiry; without it 1 + lambda D are, after the end.
func TestEarlyRefresh(t *testing.T) {
	slow(t)
	for _, row := range []struct{ rate, lead float64 }{{10, 2.880}, {100, 5.182}, {1000, 7.485}} {
		a := mustRun(t, cached(row.rate, 1, false))
		c := a.Caches[0]
		near(t, fmt.Sprint("lead at ", row.rate), c.Lead.Seconds(), row.lead, .02)
		near(t, fmt.Sprint("refreshes at ", row.rate), float64(c.Early)/float64(c.Rounds), math.E, .05)
		c = mustRun(t, cached(row.rate, 0, false)).Caches[0]
		near(t, fmt.Sprint("loads of a naive cache at ", row.rate), float64(c.Misses)/float64(c.Rounds), 1+row.rate, .03)
		c = mustRun(t, cached(row.rate, 1, true)).Caches[0]
		near(t, fmt.Sprint("refreshes in one flight at ", row.rate), float64(c.Early)/float64(c.Rounds), 1, .001)
		if late := float64(c.Misses) / float64(c.Rounds); late > .001 { // e^-lambda D
			t.Errorf("%v expiries are met by a reader", late)
		}
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
