package breaker

import (
	"math"
	"testing"
	"time"

	"github.com/kalan-go/kalan/policy"
)

// O-06: refusals must not keep the failure rate up. A dependency fails for ten
// seconds and is then healthy, at a hundred calls a second.
func TestRefusalsDoNotDelayRecovery(t *testing.T) {
	const window, open, heals = 10 * time.Second, 10 * time.Second, policy.Instant(10 * time.Second)
	b := New(Config{Window: window, Open: open})
	refused, ran, failures := 0, 0, 0
	var lastRefusal policy.Instant
	for now := policy.Instant(0); now < policy.Instant(2*time.Minute); now = now.Add(10 * ms) {
		p, ok := b.Admit(now)
		if !ok {
			refused++
			lastRefusal = now
			continue
		}
		ran++
		outcome := policy.Success
		if now < heals {
			outcome = policy.Failure
			failures++
		}
		b.Settle(now, &p, outcome, ms)
		if got := b.Snapshot(now); got.Failures > failures || got.Calls > ran {
			t.Fatalf("at %v: %d failed of %d that ran, and it counts %+v", now, failures, ran, got)
		}
	}
	if limit := heals.Add(open + window); lastRefusal > limit {
		t.Errorf("refused as late as %v; everything should pass from %v on", lastRefusal, limit)
	}
	if got := b.Snapshot(policy.Instant(2 * time.Minute)).Refused; got != uint64(refused) || refused == 0 {
		t.Errorf("it refused %d and counted %d", refused, got)
	}
}

// The open time is never shorter than configured, spread as far as asked for,
// and differs between seeds.
func TestOpenTimeIsSpread(t *testing.T) {
	low, high := policy.Never, policy.Instant(0)
	for seed := range uint64(1000) {
		b := New(Config{Calls: 1, Open: 10 * time.Second, OpenJitter: .2, Seed: seed})
		p, _ := b.Admit(0)
		b.Settle(0, &p, policy.Failure, 0)
		at := b.RetryAt(0)
		low, high = min(low, at), max(high, at)
	}
	if low < policy.Instant(10*time.Second) || low > policy.Instant(10010*ms) ||
		high > policy.Instant(12*time.Second) || high < policy.Instant(11990*ms) {
		t.Errorf("a thousand open times of 10 s + 20 %% lie between %v and %v", low, high)
	}

	b := New(Config{Calls: 1, Open: 10 * time.Second, OpenJitter: math.Inf(1)})
	p, _ := b.Admit(0)
	b.Settle(0, &p, policy.Failure, 0)
	if at := b.RetryAt(0); at > policy.Instant(20*time.Second) {
		t.Errorf("an infinite share, which Validate refuses, keeps it open until %v", at)
	}
}

// The ramp admits its share of any number of calls, to within one.
func TestRampAdmitsItsShare(t *testing.T) {
	b := New(Config{Ramp: 10 * time.Second, Probes: 1, Calls: 1})
	p, _ := b.Admit(0)
	b.Settle(0, &p, policy.Failure, 0)
	p, _ = b.Admit(policy.Instant(10 * time.Second))
	b.Settle(policy.Instant(10*time.Second), &p, policy.Success, 0)
	admitted, due := 0, 0.0
	for now := policy.Instant(10 * time.Second); now < policy.Instant(20*time.Second); now = now.Add(ms) {
		due += .1 + .9*float64(now-policy.Instant(10*time.Second))/float64(10*time.Second)
		if _, ok := b.Admit(now); ok {
			admitted++
		}
		if diff := float64(admitted) - due; diff < -1 || diff > 1.01 {
			t.Fatalf("at %v it has admitted %d calls, %.2f were due", now, admitted, due)
		}
	}
}

func TestHotPathAllocatesNothing(t *testing.T) {
	for name, c := range map[string]Config{
		"time window":  {Exchange: exchange},
		"count window": {Exchange: exchange, Count: 100},
		"ramp":         {Exchange: exchange, Ramp: time.Hour, Calls: 2},
	} {
		b := New(c)
		var now policy.Instant
		outcomes := [...]policy.Outcome{policy.Success, policy.Failure, policy.Ignored}
		i := 0
		if got := testing.AllocsPerRun(1000, func() {
			now = now.Add(300 * ms)
			p, _ := b.Admit(now)
			q, _ := b.Admit(now)
			b.Overdue(now, &q)
			b.Undo(now, &q)
			b.Settle(now, &p, outcomes[i%3], ms)
			b.RetryAt(now)
			b.Snapshot(now)
			i++
		}); got != 0 {
			t.Errorf("%s: %v allocations a call", name, got)
		}
		if v := b.Snapshot(now); v.Opened == 0 || v.Refused == 0 {
			t.Errorf("%s: the run saw too little: %+v", name, v)
		}
	}
}
