package room

import (
	"fmt"
	"time"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/span"
)

// most is the largest number of places that may be configured: far above what
// can be served before its callers have left.
const most = 1 << 16

// A Config describes a waiting room.
type Config struct {
	// Waiting is the number of places. 0 means 1,000 (F11), negative none: a
	// call then runs at once or is refused. More places let a longer burst
	// wait and cost memory; how long a call may wait is not theirs to say.
	Waiting int `yaml:"waiting" zero:"none"`
	// Window is how long the room must have been too slow before it sheds.
	// 0 means 100 ms (F12). A longer one forgives longer bursts.
	Window time.Duration `yaml:"window"`
	// Target is the age of the oldest waiter above which the room is too
	// slow. 0 means three quarters of what it could wait. A larger one sheds
	// later. It must be below Checkout, or it is never reached.
	Target time.Duration `yaml:"target"`
	// Guarantee is the share of the grants that each level below the first has
	// while one of its calls waits, whatever waits above it. 0 means none:
	// lower levels are served when nobody above them waits. A larger one
	// serves unimportant work while important work waits.
	Guarantee float64 `yaml:"guarantee"`
	// Observe decides on shedding and on what cannot be finished in time, and
	// counts it, and refuses nothing for it; the oldest is always first. The
	// places and every call's own end hold all the same.
	Observe bool `yaml:"observe"`
	// RetryAfter is the range from which refused callers are told when to
	// come back. Zero means 2 s to 5 s (F12). Later returns smooth a storm
	// and cost those who could have been served sooner.
	RetryAfter span.Range `yaml:"retry_after"`
	// Checkout is the longest wait for a slot, filled in by the composition
	// from the upstream's own key. 0 means that only each call's own times
	// bound its wait.
	Checkout time.Duration `yaml:"-"`
}

// WithDefaults returns c with its zero fields filled in.
func (c Config) WithDefaults() Config {
	if c.Waiting == 0 {
		c.Waiting = 1000
	}
	if c.Window == 0 {
		c.Window = 100 * time.Millisecond
	}
	if c.RetryAfter.IsZero() {
		c.RetryAfter = span.Range{Min: 2 * time.Second, Max: 5 * time.Second}
	}
	return c
}

// Validate returns everything that is wrong with c.
func (c Config) Validate() policy.Problems {
	var problems policy.Problems
	report := func(warning bool, path, text string, args ...any) {
		problems = append(problems, policy.Problem{Path: path, Text: fmt.Sprintf(text, args...), Warning: warning})
	}
	c = c.WithDefaults()
	if c.Waiting > most {
		report(false, "waiting", "%d places are more than can be served in time; write at most %d", c.Waiting, most)
	}
	if c.Window < 0 {
		report(false, "window", "%v is negative; write a duration such as 100ms", c.Window)
	}
	if c.Target < 0 {
		report(false, "target", "%v is negative; write a duration, or leave it out for three quarters of the possible wait", c.Target)
	}
	if !(c.Guarantee >= 0 && c.Guarantee*(Levels-1) < 1) { // NaN is neither
		report(false, "guarantee", "%v for each level leaves nothing for the first; write a share from 0 to 0.1", c.Guarantee)
	}
	if c.RetryAfter.Min < 0 || c.RetryAfter.Max < c.RetryAfter.Min {
		report(false, "retry_after", "%v is not a range; write the shorter end first, such as 2s-5s", c.RetryAfter)
	}
	if c.Checkout > 0 && c.Target >= c.Checkout {
		report(false, "target", "%v is not below the checkout of %v, so that it is never reached; write a shorter one or leave it out", c.Target, c.Checkout)
	}
	if c.Checkout > 0 && c.Checkout < span.Mul(c.Window, 2) {
		report(true, "window", "%v is more than half of the checkout of %v: waiters are gone before the room is found too slow; write a window of at most half of it", c.Window, c.Checkout)
	}
	return problems
}
