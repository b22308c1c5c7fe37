package cut

import (
	"time"

	"github.com/kalan-go/kalan/internal/field"
	"github.com/kalan-go/kalan/policy"
)

// most bounds counts, so that a slip of the finger is not an allocation.
const most = 1 << 20

// Config describes a pool. The zero value means the documented defaults.
type Config struct {
	// Name appears in errors.
	Name string `yaml:"name"`
	// Workers is how many functions run at once, those included that were cut
	// and have not returned. 0 is 25. Raising it survives more hanging calls,
	// and lets more of them pile up behind a dependency that is stuck.
	Workers int `yaml:"workers"`
	// Waiting is how many callers may wait for a worker. 0 is 1; negative is
	// none. Raising it smooths bursts that the workers catch up with; behind
	// workers that hang it only lets callers wait in vain.
	Waiting int `yaml:"waiting" zero:"none"`
	// Timeout is the longest that a caller waits, for a worker and for the
	// function together. 0 is 800 ms.
	Timeout time.Duration `yaml:"timeout"`
	// Observe cuts and refuses nobody, and counts who would have been: for seeing
	// what a timeout and a number of workers would do before they do. A caller
	// still leaves when its own context ends.
	Observe bool `yaml:"observe"`
}

// WithDefaults returns c with what was left out filled in.
func (c Config) WithDefaults() Config {
	field.Default(&c.Workers, 25)
	field.Default(&c.Waiting, 1)
	field.Default(&c.Timeout, 800*time.Millisecond)
	return c
}

// Validate returns everything that is wrong with c.
func (c Config) Validate() policy.Problems {
	var check field.Check
	c = c.WithDefaults()
	check.Count("workers", c.Workers, most)
	check.Count("waiting", max(c.Waiting, 1), most)
	check.Duration("timeout", c.Timeout)
	return check.Problems()
}
