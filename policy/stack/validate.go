package stack

import (
	"fmt"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/breaker"
	"github.com/kalan-go/kalan/policy/bucket"
	"github.com/kalan-go/kalan/policy/limit"
)

// mostTraced bounds the ring of decisions, of 32 bytes each, so that a slip of
// the finger is not an allocation.
const mostTraced = 1 << 24

// Validate reports everything that is wrong with c.
func (c Config) Validate() policy.Problems {
	var ps policy.Problems
	if c.Exchange < 0 {
		ps = append(ps, policy.Problem{Path: "exchange",
			Text: "is negative; write how long one attempt may take, such as 800ms"})
	}
	if c.Trace < 0 || c.Trace > mostTraced {
		ps = append(ps, policy.Problem{Path: "trace",
			Text: fmt.Sprintf("%d is out of range; write how many decisions to keep, up to %d", c.Trace, mostTraced)})
	}
	if c.Checkout > 0 && c.Exchange > 0 && c.Checkout > c.Exchange {
		ps = append(ps, policy.Problem{Path: "checkout", Warning: true,
			Text: "is longer than exchange: a call may wait for its slot longer than the work may take"})
	}
	d := c.WithDefaults()
	ps = append(ps, d.Breaker.Validate().Under("breaker")...)
	ps = append(ps, d.checkProbes()...)
	ps = append(ps, d.Room.Validate().Under("room")...)
	ps = append(ps, d.Limit.Validate().Under("limit")...)
	if d.Throttle != nil {
		ps = append(ps, d.Throttle.Validate().Under("throttle")...)
	}
	for _, p := range (bucket.Config{Rate: c.Rate}).Validate() {
		if p.Path == "rate" {
			ps = append(ps, p)
		}
	}
	ps = append(ps, d.Retry.Validate().Under("retry")...)
	ps = append(ps, d.checkHedge()...)
	ps = append(ps, d.Budget.Validate().Under("budget")...)
	return ps
}

// checkProbes finds a breaker that probes again while a probe that hung may
// still hold the slot that is kept for probes: until the exchange is over, and
// a little beyond. Nothing is to be done about it, or needs to be, where the
// dependency stops when it is told and where slots are not counted.
func (c Config) checkProbes() policy.Problems {
	mode, open := c.Breaker.Mode, c.Breaker.Open
	if c.Cancels || c.Limit.Kind == limit.Unlimited || mode != breaker.Auto && mode != breaker.Observe {
		return nil
	}
	if open <= 0 || open >= c.Exchange {
		return nil
	}
	return policy.Problems{{Path: "breaker.open", Warning: true, Text: fmt.Sprintf(
		"%v is less than exchange, %v: a probe that hangs may still hold the slot that is kept for probes when the next are due; write at least %v",
		open, c.Exchange, c.Exchange)}}
}

// checkHedge finds a hedge that is never launched.
func (c Config) checkHedge() policy.Problems {
	at := c.Retry.Hedge
	switch {
	case at.Off():
		return nil
	case c.Retry.Attempts == 1:
		return policy.Problems{{Path: "retry.hedge", Warning: true,
			Text: "is never launched: it is one of the attempts, and attempts is 1; write attempts: 2, or hedge: off"}}
	case c.Exchange > 0 && at.After >= c.Exchange:
		return policy.Problems{{Path: "retry.hedge", Warning: true, Text: fmt.Sprintf(
			"%v is not below exchange, %v: the attempt that it is to stand beside is over by then; write a shorter delay, or a percentile such as p95", at.After, c.Exchange)}}
	}
	return nil
}
