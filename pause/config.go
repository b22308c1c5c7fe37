package pause

import (
	"time"

	"github.com/kalan-go/kalan/internal/field"
	"github.com/kalan-go/kalan/policy"
)

// Config describes a watch. The zero value means the documented defaults.
type Config struct {
	// Every is the time from one heartbeat to the next. 0 is 100 ms. A shorter
	// one measures pauses more exactly and wakes the process more often.
	Every time.Duration `yaml:"every"`
	// Threshold is how late a heartbeat has to be to count as a pause. 0 is
	// 50 ms. Raising it passes over what a busy machine does all day.
	Threshold time.Duration `yaml:"threshold"`
	// Window is how far back the runtime's figures go: at least this far, and
	// at most twice. 0 is 60 s. Raising it keeps what happened in sight longer.
	Window time.Duration `yaml:"window"`
}

// WithDefaults returns c with what was left out filled in.
func (c Config) WithDefaults() Config {
	field.Default(&c.Every, 100*time.Millisecond)
	field.Default(&c.Threshold, 50*time.Millisecond)
	field.Default(&c.Window, time.Minute)
	return c
}

// Validate returns everything that is wrong with c.
func (c Config) Validate() policy.Problems {
	var check field.Check
	c = c.WithDefaults()
	check.Duration("every", c.Every)
	check.Duration("threshold", c.Threshold)
	check.Duration("window", c.Window)
	if c.Every > c.Window && c.Window > 0 {
		check.Warn("window", "%v is shorter than one heartbeat of %v; write at least %v", c.Window, c.Every, c.Every)
	}
	return check.Problems()
}
