package retry_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/kalan-go/kalan/internal/pushback"
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/budget"
	"github.com/kalan-go/kalan/policy/retry"
)

// play plays a call whose attempts all take the same time and end the same
// way, and returns when it stopped.
func play(p *retry.Plan, c *retry.Call, b *budget.Budget, now policy.Instant, takes time.Duration, r policy.Report) policy.Instant {
	for {
		switch move, at := p.Next(now, c, b); move {
		case retry.Stop:
			return now
		case retry.Wait:
			now = at
		case retry.Launch:
			m := p.Launched(c)
			now = now.Add(takes)
			b.Heard(r.Outcome == policy.Success)
			p.Settle(now, c, r, policy.None, b)
			b.End(now, &m)
		}
	}
}

// O-09, from the header on: 503 with a Retry-After that no Duration can hold,
// a deadline of 2 s, and five attempts allowed. One attempt, no wait.
func TestHugeRetryAfterIsOneAttempt(t *testing.T) {
	for _, header := range []string{"9223372036", "9223372037", "9223372036854775807", strings.Repeat("9", 30)} {
		after, ok := pushback.RetryAfter(header, time.Unix(0, 0))
		if !ok || after < 0 {
			t.Fatalf("%q is read as %v, %v", header, after, ok)
		}
		p := retry.New(retry.Config{Attempts: 5})
		c := p.Begin(policy.Instant(2*time.Second), 1)
		end := play(p, &c, nil, 0, 10*ms, policy.Report{Outcome: policy.Failure, RetryAfter: after})
		if c.Attempts() != 1 || end != policy.Instant(10*ms) || c.Why() != policy.Expired {
			t.Errorf("%q: %d attempts until %v, %v; want one", header, c.Attempts(), end, c.Why())
		}
	}
}

// O-13 (a): 1,000 calls fail together, a budget of 20 % without a floor, a
// backoff of 1 s: at most 200 retries are ever sent.
func TestFailuresTogetherShareOneBudget(t *testing.T) {
	for name, window := range map[string]time.Duration{"10s": 0, "lifetime": -1, "shorter than the backoff": 500 * ms} {
		p := retry.New(retry.Config{Attempts: 3, Base: time.Second, Jitter: retry.Constant})
		b := budget.New(budget.Config{Ratio: 0.2, Floor: -1, Window: window})
		calls := make([]retry.Call, 1000)
		launch := func(now policy.Instant) (launched int) {
			for i := range calls {
				if move, _ := p.Next(now, &calls[i], b); move == retry.Launch {
					p.Launched(&calls[i]) // the mark is kept by nobody: these attempts hang
					launched++
				}
			}
			return launched
		}
		fail := func(now policy.Instant) {
			for i := range calls {
				p.Settle(now, &calls[i], failed, policy.None, b)
			}
		}
		for i := range calls {
			calls[i] = p.Begin(policy.Never, uint64(i))
		}
		if n := launch(0); n != len(calls) {
			t.Fatalf("%d first attempts", n)
		}
		fail(0)
		sent := launch(policy.Instant(time.Second))
		fail(policy.Instant(time.Second))
		sent += launch(policy.Instant(4 * time.Second))
		if sent != 200 {
			t.Errorf("window %s: %d retries were sent, want 200", name, sent)
		}
	}
}

// O-13 (b): one call at a time, 100 %: each gets exactly one retry.
func TestFullBudgetIsOneRetryEach(t *testing.T) {
	p := retry.New(retry.Config{Attempts: 3})
	b := budget.New(budget.Config{Ratio: 1, Floor: -1, Window: -1})
	now := policy.Instant(0)
	for i := range 100 {
		c := p.Begin(policy.Never, uint64(i))
		now = play(p, &c, b, now, 10*ms, failed)
		if c.Attempts() != 2 || c.Why() != policy.Budget {
			t.Fatalf("call %d: %d attempts, %v; want 2, budget", i, c.Attempts(), c.Why())
		}
	}
}

// O-15: a deadline of 5 s, any number of attempts, 100 ms of backoff, always
// failing: it ends between 4.9 s, after which no further wait fits, and 5 s.
func TestUnlimitedAttemptsEndAtTheDeadline(t *testing.T) {
	p := retry.New(retry.Config{Attempts: math.MaxInt, Factor: 1, Jitter: retry.Constant})
	c := p.Begin(policy.Instant(5*time.Second), 1)
	end := play(p, &c, nil, 0, 0, failed)
	if end < policy.Instant(4900*ms) || end > policy.Instant(5*time.Second) || c.Why() != policy.Expired || c.Attempts() != 50 {
		t.Errorf("ended at %v after %d attempts, %v; want 50 attempts until the deadline", end, c.Attempts(), c.Why())
	}
}

// F19, F20: what is refused inside is not retried, and an answer that another
// layer may retry is final here.
func TestOneLayerRetries(t *testing.T) {
	p := retry.New(retry.Config{Attempts: 3})
	for _, r := range []policy.Report{{Outcome: policy.Failure, Final: true}, {Outcome: policy.Ignored}, {Outcome: policy.Ignored, Final: true, RetryAfter: ms}} {
		c := p.Begin(policy.Never, 1)
		play(p, &c, nil, 0, 0, r)
		if c.Attempts() != 1 || c.Why() != policy.None {
			t.Errorf("%+v: %d attempts, %v; want one", r, c.Attempts(), c.Why())
		}
	}
}

// Full jitter with base 100 ms and cap 20 s: the cumulative means of the waits
// are the halves of the schedule's (Brooker, 2015).
func TestMeanWaitsUnderFullJitter(t *testing.T) {
	c := retry.Config{Base: 100 * ms, Cap: 20 * time.Second}
	want := []float64{.05, .15, .35, .75, 1.55, 3.15, 6.35, 12.75, 22.75}
	const calls = 50000
	sum, squares := make([]float64, len(want)), 0.0
	for seed := range uint64(calls) {
		at := 0.0
		for n := range want {
			wait := c.Wait(n, 0, seed*7919).Seconds()
			at += wait
			sum[n] += at
			if n == 8 {
				squares += (wait - 10) * (wait - 10)
			}
		}
	}
	for n, mean := range want {
		if got := sum[n] / calls; math.Abs(got-mean) > .01*mean {
			t.Errorf("retry %d is sent after %.4f s on average, want %.2f", n+1, got, mean)
		}
	}
	if sd := math.Sqrt(squares / calls); math.Abs(sd-20/math.Sqrt(12)) > .01*sd {
		t.Errorf("the longest wait deviates by %.3f s, want 20/sqrt(12)", sd)
	}
}

func TestNothingIsAllocated(t *testing.T) {
	p, b := retry.New(retry.Config{Attempts: 3, Base: 1}), budget.New(budget.Config{Ratio: 2})
	if n := testing.AllocsPerRun(1000, func() {
		c := p.Begin(policy.Instant(time.Second), 1)
		play(p, &c, b, 0, ms, failed)
	}); n != 0 {
		t.Errorf("%v allocations a call, want 0", n)
	}
}

// One call whose first attempt succeeds: what every call pays for the plan.
func BenchmarkCall(b *testing.B) {
	p, machine := retry.New(retry.Config{}), budget.New(budget.Config{})
	now := policy.Instant(0)
	b.ReportAllocs()
	for b.Loop() {
		now += 1000
		c := p.Begin(policy.Never, uint64(now))
		p.Next(now, &c, machine)
		m := p.Launched(&c)
		p.Settle(now, &c, policy.Report{Outcome: policy.Success}, policy.None, machine)
		machine.End(now, &m)
	}
}
