package budget

import (
	"fmt"
	"math"
	"time"

	"github.com/kalan-go/kalan/policy"
)

// Config describes a budget. The zero value is the documented default.
type Config struct {
	// Ratio is how many extra attempts there may be for each call; 0 means
	// 0.1. Raising it lets more single failures be repaired and multiplies the
	// load of an outage by up to 1 + Ratio.
	Ratio float64 `yaml:"ratio"`
	// Floor is how many extra attempts a window may have whatever the ratio
	// says, as long as at least half of the last ten attempts succeeded; 0
	// means 3, negative means none. Raising it helps callers with little
	// traffic, and every process of a fleet adds its own.
	Floor int `yaml:"floor" zero:"none"`
	// Window is how far back calls and extra attempts are counted; 0 means
	// 10 s, negative means everything since the start. Raising it allows
	// longer bursts of retries after a healthy stretch; counting everything
	// saves up retries for the outage, so it is for models, not for traffic.
	Window time.Duration `yaml:"window" zero:"none"`
	// InFlight counts what is under way instead of what was begun within
	// Window, which then means nothing: the share is one of the attempts that
	// run or wait for their backoff now, and so is Floor. It is for work that
	// takes longer than any window, such as long streams. It bounds how many
	// extra attempts there are at once and not what share of the traffic they
	// are: quick failures are retried at the pace at which they fail.
	InFlight bool `yaml:"in_flight"`
	// Observe decides and counts what would be denied, and denies nothing: for
	// seeing what a budget would do before it does.
	Observe bool `yaml:"observe"`
}

// WithDefaults returns the configuration with its zero fields filled in.
func (c Config) WithDefaults() Config {
	if c.Ratio == 0 {
		c.Ratio = 0.1
	}
	if c.Floor == 0 {
		c.Floor = 3
	}
	if c.Window == 0 {
		c.Window = 10 * time.Second
	}
	return c
}

// Validate returns everything that is wrong with the configuration.
func (c Config) Validate() policy.Problems {
	c = c.WithDefaults()
	var ps policy.Problems
	switch {
	case math.IsNaN(c.Ratio) || math.IsInf(c.Ratio, 0) || c.Ratio < 0:
		ps = append(ps, policy.Problem{Path: "ratio", Text: fmt.Sprintf(
			"%v is not a share of the traffic; write a number such as 0.1, or retry.attempts: 1 for no retries", c.Ratio)})
	case c.Ratio > 1:
		ps = append(ps, policy.Problem{Path: "ratio", Warning: true, Text: fmt.Sprintf(
			"%v allows more extra attempts than calls, so an outage more than doubles its own load; 0.1 is usual", c.Ratio)})
	}
	if c.Window > 0 && c.Window < slices*time.Millisecond {
		ps = append(ps, policy.Problem{Path: "window", Text: fmt.Sprintf(
			"%v is too short to count anything; write at least %v, 10s is usual", c.Window, slices*time.Millisecond)})
	}
	return ps
}
