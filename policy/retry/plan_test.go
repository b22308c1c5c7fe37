package retry_test

import (
	"testing"
	"time"
	"unsafe"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/budget"
	"github.com/kalan-go/kalan/policy/retry"
)

var failed = policy.Report{Outcome: policy.Failure}

func TestCallIsSmall(t *testing.T) {
	if size := unsafe.Sizeof(retry.Call{}); size > 64 {
		t.Errorf("a call has %d bytes, want at most 64", size)
	}
}

// launch asks for an attempt and starts it.
func launch(t *testing.T, p *retry.Plan, now policy.Instant, c *retry.Call, b *budget.Budget) budget.Mark {
	t.Helper()
	if move, _ := p.Next(now, c, b); move != retry.Launch {
		t.Fatalf("at %v: move %v, want a launch", now, move)
	}
	return p.Launched(c)
}

func TestRetriesUntilSpent(t *testing.T) {
	p := retry.New(retry.Config{Attempts: 3, Jitter: retry.Constant})
	c := p.Begin(policy.Never, 1)
	var now policy.Instant
	for _, wait := range []time.Duration{100 * ms, 200 * ms} {
		launch(t, p, now, &c, nil)
		if move, at := p.Next(now, &c, nil); move != retry.Wait || at != policy.Never {
			t.Fatalf("an attempt runs: %v until %v", move, at)
		}
		p.Settle(now, &c, failed, policy.None, nil)
		move, at := p.Next(now, &c, nil)
		if move != retry.Wait || at != now.Add(wait) {
			t.Fatalf("after a failure: %v until %v, want to wait until %v", move, at, now.Add(wait))
		}
		now = at
	}
	launch(t, p, now, &c, nil)
	p.Settle(now, &c, failed, policy.None, nil)
	if c.Why() != policy.Spent || c.Attempts() != 3 {
		t.Errorf("%v after %d attempts, want spent after 3", c.Why(), c.Attempts())
	}
}

// O-09: what the dependency asks for is never shortened.
func TestLongRetryAfterEndsTheCall(t *testing.T) {
	for after, want := range map[time.Duration]policy.Reason{
		2 * time.Second:          policy.Expired, // at the deadline
		1500 * ms:                policy.None,    // beyond the cap
		9223372036 * time.Second: policy.Expired,
		time.Duration(1<<63 - 1): policy.Expired,
	} {
		p := retry.New(retry.Config{Attempts: 5})
		c := p.Begin(policy.Instant(2*time.Second), 1)
		launch(t, p, 0, &c, nil)
		p.Settle(0, &c, policy.Report{Outcome: policy.Failure, RetryAfter: after}, policy.None, nil)
		if move, _ := p.Next(0, &c, nil); move != retry.Stop || c.Why() != want || c.Attempts() != 1 {
			t.Errorf("Retry-After %v: move %v, why %v, %d attempts; want to stop with %v", after, move, c.Why(), c.Attempts(), want)
		}
	}
}

// O-15: a wait that reaches the deadline is not begun.
func TestWaitThatReachesTheDeadlineIsNotBegun(t *testing.T) {
	p := retry.New(retry.Config{Base: 600 * time.Second, Jitter: retry.Constant})
	b := budget.New(budget.Config{})
	c := p.Begin(policy.Instant(300*time.Second), 1)
	launch(t, p, 0, &c, b)
	p.Settle(0, &c, failed, policy.None, b)
	if move, _ := p.Next(0, &c, b); move != retry.Stop || c.Why() != policy.Expired {
		t.Errorf("move %v, why %v; want to stop at once, expired", move, c.Why())
	}
	if s := b.Snapshot(0); s.Extra != 0 {
		t.Errorf("a retry that cannot be took %d from the budget", s.Extra)
	}
}
