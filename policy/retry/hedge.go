package retry

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/budget"
	"github.com/kalan-go/kalan/policy/span"
)

// A Hedge says when a call may launch another attempt beside one that has not
// answered. The first answer wins. It shortens the tail of a dependency whose
// slow answers are bad luck, at the price of the extra load, which the budget
// caps like retries: hedging at p95 costs at most 5 % (Dean and Barroso, "The
// Tail at Scale", 2013). It is no help against a dependency that is slow for
// everybody, and makes that worse.
//
// Its text form is a delay, "50ms", a percentile of the answered attempts,
// "p95", or "off". The zero value is off.
type Hedge struct {
	// After is the fixed delay; 0 means none.
	After time.Duration
	// Quantile is the share of answered attempts that are quicker than the
	// delay, in (0, 1); 0 means that the delay is not measured. After wins.
	Quantile float64
}

// Off reports whether there is no hedging.
func (h Hedge) Off() bool { return h.After <= 0 && h.Quantile <= 0 }

func (h Hedge) problem() string {
	switch {
	case h.After < 0:
		return fmt.Sprintf("%v is negative; write a delay such as 50ms, a percentile such as p95, or off", h.After)
	case !(h.Quantile >= 0 && h.Quantile < 1): // NaN is neither
		return fmt.Sprintf("%v is not a quantile; write a percentile from p50 to p99", h.Quantile)
	}
	return ""
}

// MarshalText writes the hedge as UnmarshalText reads it.
func (h Hedge) MarshalText() ([]byte, error) {
	switch {
	case h.Off():
		return []byte("off"), nil
	case h.After > 0:
		return []byte(h.After.String()), nil
	}
	return strconv.AppendFloat([]byte("p"), h.Quantile*100, 'g', 6, 64), nil
}

// UnmarshalText reads "50ms", "p95" or "off".
func (h *Hedge) UnmarshalText(text []byte) error {
	s := string(text)
	if s == "off" {
		*h = Hedge{}
		return nil
	}
	if percent, ok := strings.CutPrefix(s, "p"); ok {
		p, err := strconv.ParseFloat(percent, 64)
		if err != nil || !(p >= 50 && p < 100) {
			return fmt.Errorf("%.40q is not a percentile to hedge at; write one from p50 to p99", s)
		}
		*h = Hedge{Quantile: p / 100}
		return nil
	}
	d, err := span.Parse(s)
	if err != nil || d == 0 {
		return fmt.Errorf(`%.40q is not a time to hedge at; write a delay such as 50ms, a percentile such as p95, or off`, s)
	}
	*h = Hedge{After: d}
	return nil
}

// HedgeAt lets the call launch another attempt at that instant, beside the one
// that has just been launched, if neither has answered by then. Without it a
// call has one attempt out at a time. It may be asked once for each launch.
func (p *Plan) HedgeAt(c *Call, at policy.Instant) {
	if c.state == running {
		c.at = at
	}
}

// hedge is Next while an attempt runs. The budget is asked when the hedge is
// due, once: a call that it refuses goes on with what it has.
func (p *Plan) hedge(now policy.Instant, c *Call, b *budget.Budget) (Move, policy.Instant) {
	if int(c.attempts) >= p.config.Attempts {
		return Wait, policy.Never
	}
	if now < c.at {
		return Wait, c.at
	}
	c.at = policy.Never
	mark, ok := b.Retry(now)
	if !ok {
		return Wait, policy.Never
	}
	c.mark, c.state = mark, ready
	return Launch, now
}
