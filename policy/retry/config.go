package retry

import (
	"fmt"
	"math"
	"time"

	"github.com/kalan-go/kalan/policy"
)

// Config describes a plan. The zero value is the documented default.
type Config struct {
	// Attempts is how many times a call may be launched in all, the first time
	// included; 0 means 2, 1 means no retries. Raising it repairs rarer
	// failures, divides the time that each attempt can have, and multiplies
	// the load of an outage unless a budget caps it.
	Attempts int `yaml:"attempts"`
	// Base is the scheduled wait before the second attempt; 0 means 100 ms.
	// Raising it gives the dependency longer to recover, and makes repaired
	// calls slower.
	Base time.Duration `yaml:"base"`
	// Factor is by how much the wait grows from one attempt to the next; 0
	// means 2, 1 means that it does not grow.
	Factor float64 `yaml:"factor"`
	// Cap is the longest scheduled wait, and the longest Retry-After that is
	// waited for; 0 means 1 s, or Base if that is longer. Raising it makes
	// long outages cheaper and obeys dependencies that ask for more time.
	Cap time.Duration `yaml:"cap"`
	// Jitter says how the wait is spread; the zero value is Full.
	Jitter Jitter `yaml:"jitter"`
	// Hedge says when a call that may run twice at once launches another
	// attempt beside one that has not answered; the zero value is never. It
	// counts as one of Attempts. Raising the delay costs less load and cuts
	// less of the tail.
	Hedge Hedge `yaml:"hedge"`
}

// WithDefaults returns the configuration with its zero fields filled in.
func (c Config) WithDefaults() Config {
	if c.Attempts == 0 {
		c.Attempts = 2
	}
	if c.Base == 0 {
		c.Base = 100 * time.Millisecond
	}
	if c.Factor == 0 {
		c.Factor = 2
	}
	if c.Cap == 0 {
		c.Cap = max(time.Second, c.Base)
	}
	return c
}

// Validate returns everything that is wrong with the configuration.
func (c Config) Validate() policy.Problems {
	c = c.WithDefaults()
	var ps policy.Problems
	wrong := func(path, format string, args ...any) {
		ps = append(ps, policy.Problem{Path: path, Text: fmt.Sprintf(format, args...)})
	}
	if c.Attempts < 0 {
		wrong("attempts", "%d is not a number of attempts; write 1 for no retries, 2 is usual", c.Attempts)
	}
	if c.Base < 0 {
		wrong("base", "%v is negative; write a wait such as 100ms, or jitter: at_once for none", c.Base)
	}
	if c.Cap < 0 {
		wrong("cap", "%v is negative; write the longest wait, such as 1s", c.Cap)
	} else if c.Cap < c.Base {
		wrong("cap", "%v is shorter than the base of %v; write at least %v", c.Cap, c.Base, c.Base)
	}
	if math.IsNaN(c.Factor) || math.IsInf(c.Factor, 0) || c.Factor < 1 {
		wrong("factor", "%v would shorten the wait from one attempt to the next; write 1 or more, 2 is usual", c.Factor)
	}
	if text := c.Hedge.problem(); text != "" {
		wrong("hedge", "%s", text)
	}
	if c.Jitter >= jitters {
		wrong("jitter", "%d is not a jitter; write one of %s", uint8(c.Jitter), jitterNames)
	}
	return ps
}
