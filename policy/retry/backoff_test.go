package retry_test

import (
	"math"
	"testing"
	"time"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/retry"
)

const ms = time.Millisecond

// O-08: base 100 ms, factor 2, cap 1 s.
func TestScheduleSaturates(t *testing.T) {
	c := retry.Config{Base: 100 * ms, Factor: 2, Cap: time.Second}
	for n, want := range map[int]time.Duration{
		0: 100 * ms, 1: 200 * ms, 2: 400 * ms, 3: 800 * ms,
		4: time.Second, 36: time.Second, 37: time.Second, 62: time.Second, 63: time.Second, 64: time.Second,
		65: time.Second, 84: time.Second, 1000: time.Second, math.MaxInt: time.Second,
		-1: 100 * ms, math.MinInt: 100 * ms,
	} {
		if got := c.Schedule(n); got != want {
			t.Errorf("retry %d waits %v, want %v", n, got, want)
		}
		for _, jitter := range []retry.Jitter{retry.Full, retry.Equal, retry.Decorrelated, retry.Constant, retry.AtOnce} {
			c.Jitter = jitter
			for seed := range uint64(100) {
				if got := c.Wait(n, time.Second, seed); got < 0 || got > time.Second {
					t.Errorf("retry %d, jitter %v, seed %d waits %v: outside of [0, 1s]", n, jitter, seed, got)
				}
			}
		}
	}
}

func TestJitterKeepsItsBounds(t *testing.T) {
	for jitter, want := range map[retry.Jitter]struct{ low, high, mean time.Duration }{
		retry.Full:         {0, 400 * ms, 200 * ms},
		retry.Equal:        {200 * ms, 400 * ms, 300 * ms},
		retry.Decorrelated: {100 * ms, 600 * ms, 350 * ms},
		retry.Constant:     {400 * ms, 400 * ms, 400 * ms},
		retry.AtOnce:       {0, 0, 0},
	} {
		c := retry.Config{Jitter: jitter}
		var sum, low, high time.Duration = 0, time.Hour, 0
		const draws = 20000
		for seed := range uint64(draws) {
			d := c.Wait(2, 200*ms, seed)
			if d != c.Wait(2, 200*ms, seed) {
				t.Fatalf("%v: the same seed waits twice as long", jitter)
			}
			sum, low, high = sum+d, min(low, d), max(high, d)
		}
		mean, near := sum/draws, 5*ms
		if low < want.low || high > want.high || low > want.low+near || high < want.high-near {
			t.Errorf("%v waits %v to %v, want %v to %v", jitter, low, high, want.low, want.high)
		}
		if mean < want.mean-near || mean > want.mean+near {
			t.Errorf("%v waits %v on average, want about %v", jitter, mean, want.mean)
		}
	}
}

// The waits of one call are drawn apart from each other: callers that failed
// together and drew short once do not draw short for ever.
func TestDrawsOfOneCallAreIndependent(t *testing.T) {
	c := retry.Config{Factor: 1}
	both := 0
	const draws = 20000
	for seed := range uint64(draws) {
		if c.Wait(0, 0, seed) < 50*ms && c.Wait(1, 0, seed) < 50*ms {
			both++
		}
	}
	if both < draws/4*95/100 || both > draws/4*105/100 {
		t.Errorf("%d of %d calls draw the lower half twice, want about a quarter", both, draws)
	}
}

// Decorrelated grows from the wait before: the first is at most three times the
// base, the second at most three times the first.
func TestDecorrelatedGrowsFromTheWaitBefore(t *testing.T) {
	p := retry.New(retry.Config{Attempts: 3, Base: 100 * ms, Cap: 10 * time.Second, Jitter: retry.Decorrelated})
	var longest [2]time.Duration
	for seed := range uint64(2000) {
		c := p.Begin(policy.Never, seed)
		var now policy.Instant
		for i := range longest {
			launch(t, p, now, &c, nil)
			p.Settle(now, &c, failed, policy.None, nil)
			_, at := p.Next(now, &c, nil)
			longest[i] = max(longest[i], at.Sub(now))
			now = at
		}
	}
	if longest[0] > 300*ms || longest[0] < 290*ms || longest[1] > 900*ms || longest[1] < 800*ms {
		t.Errorf("the longest waits are %v, want nearly 300 and 900 ms", longest)
	}
}
