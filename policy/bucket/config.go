package bucket

import (
	"fmt"
	"math"
	"time"

	"github.com/kalan-go/kalan/policy"
)

const (
	maxRate  = float64(time.Second) // one call a nanosecond
	maxBurst = 1 << 30
	// maxFill is the longest that an empty bucket may take to fill, so that a
	// level always fits into an instant.
	maxFill = time.Duration(math.MaxInt64 / 8)
)

// A Config describes a bucket. The zero Config allows nothing.
type Config struct {
	// Rate is how many calls a second are allowed in the long run. 0 means
	// that nothing comes back: the burst is all there is, for ever. Higher
	// allows more.
	Rate float64 `yaml:"rate"`
	// Burst is how many calls may come at once after a pause. 0 means what
	// the rate gives in one second, rounded up; negative means none, so that
	// every call is refused. Higher lets longer bursts through unthrottled.
	Burst int `yaml:"burst" zero:"none"`
	// Observe decides and counts, and refuses nothing: for seeing what a rate
	// would refuse before it does.
	Observe bool `yaml:"observe"`
}

// WithDefaults returns c with its zero fields filled in.
func (c Config) WithDefaults() Config {
	if c.Burst == 0 && c.Rate > 0 {
		c.Burst = int(math.Ceil(min(c.Rate, maxBurst)))
	}
	return c
}

// Validate returns everything that is wrong with c.
func (c Config) Validate() policy.Problems {
	var problems policy.Problems
	report := func(path, text string, args ...any) {
		problems = append(problems, policy.Problem{Path: path, Text: fmt.Sprintf(text, args...)})
	}
	c = c.WithDefaults()
	if !(c.Rate >= 0 && c.Rate <= maxRate) { // NaN is neither
		report("rate", "%v is not a rate; write a number of calls a second from 0 to %.0f", c.Rate, maxRate)
	} else if c.Rate > 0 && float64(c.Burst)/c.Rate > maxFill.Seconds() {
		report("rate", "%v calls a second fill a burst of %d in more than %.0f years; write 0 if nothing is to come back", c.Rate, c.Burst, maxFill.Hours()/24/365)
	}
	if c.Burst > maxBurst {
		report("burst", "%d is more than can come at once; write at most %d", c.Burst, maxBurst)
	}
	return problems
}
