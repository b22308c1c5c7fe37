package handoff

import (
	"github.com/kalan-go/kalan/internal/field"
	"github.com/kalan-go/kalan/policy"
)

// most bounds counts, so that a slip of the finger is not an allocation.
const most = 1 << 24

// Config describes a queue. The zero value means the documented defaults.
type Config struct {
	// Name appears in errors.
	Name string `yaml:"name"`
	// Waiting is how many items may wait. 0 is 1000; negative is none, and an
	// item is taken only when a worker is idle. Raising it smooths longer bursts;
	// what waits longer than its deadline is dropped, so more than the workers
	// do within one deadline is of no use.
	Waiting int `yaml:"waiting" zero:"none"`
	// Workers is how many items are worked on at once. 0 is 8. Raising it works
	// faster where the work waits for something else, and sends that more at once.
	Workers int `yaml:"workers"`
	// Observe begins what nobody wants any more all the same, and counts it: for
	// seeing what dropping would save. What has no place is refused still, since
	// a queue without a bound is the outage.
	Observe bool `yaml:"observe"`
}

// WithDefaults returns c with what was left out filled in.
func (c Config) WithDefaults() Config {
	field.Default(&c.Waiting, 1000)
	field.Default(&c.Workers, 8)
	return c
}

// Validate returns everything that is wrong with c.
func (c Config) Validate() policy.Problems {
	var check field.Check
	c = c.WithDefaults()
	check.Count("waiting", max(c.Waiting, 1), most)
	check.Count("workers", c.Workers, most)
	return check.Problems()
}
