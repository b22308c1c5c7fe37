package breaker

import (
	"testing"
	"time"

	"github.com/kalan-go/kalan/policy"
)

// found is how long after the fault began the breaker opened; -1: it did not.
func found(rate float64, seed uint64, begins policy.Instant, f fault, within time.Duration) time.Duration {
	w := newWorld(rate, seed, after(begins, f))
	w.run(begins.Add(within))
	if len(w.opened) == 0 {
		return -1
	}
	return w.opened[0].Sub(begins)
}

// TestFaultsAreSeen holds the figures of detection after two minutes of healthy
// traffic. Every seed must pass, so that no lucky one does.
func TestFaultsAreSeen(t *testing.T) {
	quick := []float64{20, 50, 100, 200}
	for _, c := range []struct {
		name     string
		fault    fault
		rates    []float64
		low, top time.Duration
	}{
		{"hang", partly(1, time.Hour, policy.Success), quick, 1900 * ms, 2400 * ms},
		{"answers after 5 s", partly(1, 5*time.Second, policy.Success), quick, 1900 * ms, 2400 * ms},
		{"answers after 500 ms", partly(1, 500*ms, policy.Success), quick, 1900 * ms, 2400 * ms},
		{"refused", partly(1, ms, policy.Failure), quick, 1600 * ms, 2000 * ms},
		{"hang, little traffic", partly(1, time.Hour, policy.Success), []float64{5}, 2 * time.Second, 8 * time.Second},
		{"90 % hang", partly(.9, time.Hour, policy.Success), quick, 1900 * ms, 4 * time.Second},
		{"75 % hang", partly(.75, time.Hour, policy.Success), quick, 1900 * ms, 8 * time.Second},
		// What the score cannot see, the rate of a whole window does.
		{"60 % slow", partly(.6, 500*ms, policy.Success), quick, 1900 * ms, 2 * time.Minute},
		{"55 % slow", partly(.55, 500*ms, policy.Success), quick, 1900 * ms, 4 * time.Minute},
		{"60 % failed", partly(.6, ms, policy.Failure), quick, 1600 * ms, time.Minute},
		{"a third slow, a third failed", thirds, quick, 1600 * ms, 2 * time.Minute},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, rate := range c.rates {
				for seed := uint64(1); seed <= 5; seed++ {
					d := found(rate, seed, policy.Instant(2*time.Minute), c.fault, 10*time.Minute)
					if d < c.low || d > c.top {
						t.Errorf("%.0f rps, seed %d: opened after %v, not within %v to %v", rate, seed, d, c.low, c.top)
					}
				}
			}
		})
	}
}

// TestNothingOpensInService holds the other half: what heals by itself within a
// second, and what is unpleasant and normal, opens nothing.
func TestNothingOpensInService(t *testing.T) {
	minute := policy.Instant(time.Minute)
	second := time.Second
	for _, c := range []struct {
		name  string
		fault fault
		rate  float64
		hours float64
	}{
		{"healthy, 5 rps", healthy, 5, 8},
		{"healthy, 20 rps", healthy, 20, 4},
		{"healthy, 200 rps", healthy, 200, .25},
		{"45 % slow, 50 rps", partly(.45, 500*ms, policy.Success), 50, 2},
		{"45 % slow, 200 rps", partly(.45, 500*ms, policy.Success), 200, .5},
		{"30 % slow, 1 rps", partly(.3, 500*ms, policy.Success), 1, 4},
		{"30 % failed, 20 rps", partly(.3, ms, policy.Failure), 20, 2},
		{"blip of 1 s, 20 rps", hangs(minute, second), 20, .1},
		{"blip of 1 s, 200 rps", hangs(minute, second), 200, .1},
		{"blip of 1 s at the first call, 20 rps", hangs(0, second), 20, .1},
		{"blip of 1 s at the first call, 200 rps", hangs(0, second), 200, .1},
		{"restart of 1 s, 20 rps", restarts(minute, second), 20, .1},
		{"restart of 1 s, 200 rps", restarts(minute, second), 200, .1},
		{"cold caches for 1 s after idle, 100 rps", cold(second), 100, .1},
	} {
		t.Run(c.name, func(t *testing.T) {
			for seed := uint64(1); seed <= 3; seed++ {
				w := newWorld(c.rate, seed, c.fault)
				w.run(policy.Instant(c.hours * float64(time.Hour)))
				if len(w.opened) > 0 {
					t.Errorf("seed %d: opened at %v, after %d calls", seed, w.opened[0], w.offered)
				}
			}
		})
	}
}

// TestPauseOfTheGatewayItselfOpensNothing: for 1.5 s nobody runs (F23), and
// then everything that was in flight looks slow at once.
func TestPauseOfTheGatewayItselfOpensNothing(t *testing.T) {
	from, to := policy.Instant(time.Minute), policy.Instant(time.Minute+1500*ms)
	for _, rate := range []float64{20, 200, 1000} {
		w := newWorld(rate, 1, healthy)
		w.paused = func(at policy.Instant) policy.Instant {
			if at > from && at < to {
				return to
			}
			return at
		}
		w.run(to.Add(time.Minute))
		if len(w.opened) > 0 {
			t.Errorf("%.0f rps: opened at %v", rate, w.opened[0])
		}
	}
}
