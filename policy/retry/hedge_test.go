package retry

import (
	"testing"
	"time"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/budget"
)

const ms = policy.Instant(time.Millisecond)

func hedged(t *testing.T, attempts int) (*Plan, *budget.Budget, *Call) {
	t.Helper()
	p := New(Config{Attempts: attempts})
	b := budget.New(budget.Config{})
	c := p.Begin(policy.Never, 1)
	if m, _ := p.Next(0, &c, b); m != Launch {
		t.Fatal("the first attempt was not launched")
	}
	p.Launched(&c)
	p.HedgeAt(&c, 50*ms)
	return p, b, &c
}

func TestHedgeIsLaunchedWhenItIsDue(t *testing.T) {
	p, b, c := hedged(t, 2)
	if m, at := p.Next(10*ms, c, b); m != Wait || at != 50*ms {
		t.Errorf("before it is due: %v until %v", m, at)
	}
	if m, _ := p.Next(50*ms, c, b); m != Launch {
		t.Error("not launched when due")
	}
	p.Launched(c)
	p.HedgeAt(c, 100*ms)
	if m, at := p.Next(200*ms, c, b); m != Wait || at != policy.Never {
		t.Errorf("with every attempt out: %v until %v, want to wait for them", m, at)
	}
	if n := b.Snapshot(200 * ms).Running; n != 1 {
		t.Errorf("%d extra attempts hold budget, want the hedge alone", n)
	}
}

func TestFirstFailureWaitsForTheHedge(t *testing.T) {
	p, b, c := hedged(t, 3)
	p.Next(50*ms, c, b)
	p.Launched(c)
	p.Settle(60*ms, c, policy.Report{Outcome: policy.Failure}, policy.None, b)
	if m, _ := p.Next(60*ms, c, b); m != Wait || c.Stopped() {
		t.Fatal("a failure decided while the other attempt is out")
	}
	p.Settle(70*ms, c, policy.Report{Outcome: policy.Success}, policy.None, b)
	if !c.Stopped() || c.Why() != policy.None {
		t.Errorf("stopped %v for %v after the hedge's success", c.Stopped(), c.Why())
	}
}

func TestLastFailureDecides(t *testing.T) {
	p, b, c := hedged(t, 3)
	p.Next(50*ms, c, b)
	p.Launched(c)
	failure := policy.Report{Outcome: policy.Failure}
	p.Settle(60*ms, c, failure, policy.None, b)
	p.Settle(61*ms, c, failure, policy.None, b)
	if m, at := p.Next(61*ms, c, b); m == Stop || at > 61*ms+200*ms {
		t.Errorf("%v until %v, want the third attempt after its backoff", m, at)
	}
}

func TestRefusedHedgeEndsNothing(t *testing.T) {
	p, b, c := hedged(t, 2)
	p.Next(50*ms, c, b)
	p.Refused(50*ms, c, policy.Full, b)
	if c.Stopped() || c.Attempts() != 1 || b.Snapshot(50*ms).Running != 0 {
		t.Errorf("stopped %v after %d attempts", c.Stopped(), c.Attempts())
	}
	if m, at := p.Next(60*ms, c, b); m != Wait || at != policy.Never {
		t.Errorf("%v until %v: a refused hedge is not tried again", m, at)
	}
}

func TestBudgetRefusesTheHedge(t *testing.T) {
	p := New(Config{})
	b := budget.New(budget.Config{Ratio: 1e-9, Floor: -1})
	b.Call(0)
	b.Retry(0) // the first is always within a positive ratio
	c := p.Begin(policy.Never, 1)
	p.Next(0, &c, b)
	p.Launched(&c)
	p.HedgeAt(&c, 50*ms)
	if m, at := p.Next(50*ms, &c, b); m != Wait || at != policy.Never {
		t.Errorf("%v until %v without budget", m, at)
	}
}

func TestHedgeAllowedTooLateGivesItsBudgetBack(t *testing.T) {
	p, b, c := hedged(t, 2)
	p.Next(50*ms, c, b) // allowed, and before it is launched the answer comes
	p.Settle(50*ms, c, policy.Report{Outcome: policy.Success}, policy.None, b)
	if n := b.Snapshot(50 * ms).Running; n != 0 {
		t.Errorf("%d extra attempts hold budget at the end", n)
	}
}

func TestHedgeText(t *testing.T) {
	for text, want := range map[string]Hedge{
		"off": {}, "50ms": {After: 50 * time.Millisecond}, "p95": {Quantile: .95},
	} {
		var h Hedge
		if err := h.UnmarshalText([]byte(text)); err != nil || h != want {
			t.Errorf("%q is %+v, %v", text, h, err)
		}
		if back, err := h.MarshalText(); err != nil || string(back) != text {
			t.Errorf("%+v is written %q, %v", h, back, err)
		}
	}
	for _, text := range []string{"", "50", "-5ms", "p", "p101", "pNaN", "p-5", "0", "0s", "p100", "p5"} {
		if err := new(Hedge).UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q was read", text)
		}
	}
}
