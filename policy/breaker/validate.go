package breaker

import (
	"fmt"
	"time"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/span"
)

// Validate returns everything that is wrong with c, with what to write instead.
// Paths are the fields' names in the configuration file. Slow is judged
// against Exchange only where the owner has filled that in.
func (c Config) Validate() policy.Problems {
	c = c.WithDefaults()
	var ps policy.Problems
	c.checkMode(&ps)
	c.checkCounts(&ps)
	c.checkSpans(&ps)
	c.checkRates(&ps)
	c.checkSlow(&ps)
	return ps
}

func problem(ps *policy.Problems, path, format string, args ...any) {
	*ps = append(*ps, policy.Problem{Path: path, Text: fmt.Sprintf(format, args...)})
}

func warning(ps *policy.Problems, path, format string, args ...any) {
	problem(ps, path, format, args...)
	(*ps)[len(*ps)-1].Warning = true
}

func (c Config) checkMode(ps *policy.Problems) {
	if int(c.Mode) >= len(modes) {
		problem(ps, "mode", "%v is no mode; write auto, open, closed, disabled or observe", c.Mode)
	}
}

func (c Config) checkCounts(ps *policy.Problems) {
	if c.Calls < 0 {
		problem(ps, "calls", "%d is negative; write the number of calls to judge on, such as 20", c.Calls)
	}
	switch {
	case c.Count < 0 || c.Count > maxCount:
		problem(ps, "count", "%d is outside 0 to %d; write 0 to count by time", c.Count, maxCount)
	case c.Count > 0 && c.Calls > c.Count:
		problem(ps, "calls", "%d calls never fit into a count of %d; write at most %d", c.Calls, c.Count, c.Count)
	}
	if c.Probes < 0 || c.Probes > maxProbes {
		problem(ps, "probes", "%d is outside 1 to %d; write the number of probes, such as 5", c.Probes, maxProbes)
	}
}

func (c Config) checkSpans(ps *policy.Problems) {
	for _, f := range []struct {
		path string
		d    time.Duration
	}{
		{"window", c.Window}, {"open", c.Open}, {"open_max", c.OpenMax},
		{"half_open", c.HalfOpen}, {"ramp", c.Ramp}, {"exchange", c.Exchange},
	} {
		if f.d < 0 {
			problem(ps, f.path, "%v is negative; write a duration such as %q", f.d, "10s")
		}
	}
	if c.OpenMax > 0 && c.OpenMax < c.Open {
		problem(ps, "open_max", "%v is less than open, %v; write at least %v", c.OpenMax, c.Open, c.Open)
	}
	if c.Exchange > 0 && c.HalfOpen > 0 && c.HalfOpen < c.Exchange {
		warning(ps, "half_open", "%v is less than exchange, %v: a probe counts as failed before it can time out; write at least %v",
			c.HalfOpen, c.Exchange, c.Exchange)
	}
	if patience := c.rules().patience; c.Window > 0 && c.Window < patience {
		warning(ps, "window", "%v is less than the %v for which calls must be bad before the score opens it; write at least %v",
			c.Window, patience, span.Mul(patience, 2))
	}
}

func (c Config) checkRates(ps *policy.Problems) {
	if !(c.FailureRate > 0 && c.FailureRate <= 1) { // refuses NaN, too
		problem(ps, "failure_rate", "%v is not a share; write a number above 0 and up to 1, such as 0.5", c.FailureRate)
	}
	if !(c.SlowRate > 0 && c.SlowRate <= 1) {
		problem(ps, "slow_rate", "%v is not a share; write a number above 0 and up to 1, such as 0.5", c.SlowRate)
	}
	if !(c.OpenJitter >= 0 && c.OpenJitter <= 1) {
		problem(ps, "open_jitter", "%v is not a share; write a number from 0 to 1, such as 0.2", c.OpenJitter)
	}
}

// checkSlow holds F18's rule for the threshold, 50-60 % of the timeout.
func (c Config) checkSlow(ps *policy.Problems) {
	if c.Exchange <= 0 || c.Slow <= 0 {
		return
	}
	low, high := c.Exchange/2, span.Scale(c.Exchange, 0.6)
	switch {
	case c.Slow >= c.Exchange:
		problem(ps, "slow", "%v is not below exchange, %v: every slow call has timed out by then; write %v to %v", c.Slow, c.Exchange, low, high)
	case c.Slow > high:
		warning(ps, "slow", "%v is more than 60 %% of exchange, %v: a hang is seen late; write %v to %v", c.Slow, c.Exchange, low, high)
	}
}
