package throttle

import (
	"fmt"
	"time"

	"github.com/kalan-go/kalan/policy"
)

const (
	mostK     = 1000
	mostFloor = 1 << 30
)

// Config describes a throttle. The zero value is the documented default.
type Config struct {
	// K is how many requests are sent for each that is accepted; 0 means 2.
	// Raising it follows a recovery sooner and finds out more often, at the
	// dependency's cost, that there is no more room. It is above 1: with less
	// it sends what was accepted and can never send more.
	K float64 `yaml:"k"`
	// Window is how far back requests are counted; 0 means 10 s. Raising it
	// makes the share steadier and the way back as much longer.
	Window time.Duration `yaml:"window"`
	// Floor is how many requests of a window are sent for each level whatever
	// was accepted; 0 means 5, as many as the breaker's probes in as long, and
	// negative means none. Raising it protects small callers from a few refusals
	// in a row, and every process of a fleet sends its own to a dependency that
	// accepts nothing.
	Floor int `yaml:"floor" zero:"none"`
	// Observe decides and counts, and refuses nothing: for seeing what a
	// throttle would refuse before it does.
	Observe bool `yaml:"observe"`
}

// WithDefaults returns c with its zero fields filled in.
func (c Config) WithDefaults() Config {
	if c.K == 0 {
		c.K = 2
	}
	if c.Window == 0 {
		c.Window = 10 * time.Second
	}
	if c.Floor == 0 {
		c.Floor = 5
	}
	return c
}

// Validate returns everything that is wrong with c.
func (c Config) Validate() policy.Problems {
	c = c.WithDefaults()
	var ps policy.Problems
	report := func(path, text string, args ...any) {
		ps = append(ps, policy.Problem{Path: path, Text: fmt.Sprintf(text, args...)})
	}
	if !(c.K > 1 && c.K <= mostK) { // NaN is neither
		report("k", "%v is not a number above 1 and up to %d, and with 1 or less it could never send more again; write how many requests to send for each that is accepted, such as 2", c.K, mostK)
	}
	if c.Window < slices*time.Millisecond {
		report("window", "%v is too short to count anything; write at least %v, 10s is usual", c.Window, slices*time.Millisecond)
	}
	if c.Floor > mostFloor {
		report("floor", "%d is more than is ever sent; write at most %d, 5 is usual", c.Floor, mostFloor)
	}
	return ps
}
