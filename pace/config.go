package pace

import (
	"time"

	"github.com/kalan-go/kalan/internal/field"
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/bucket"
)

// most bounds counts, so that a slip of the finger is not an allocation.
const most = 1 << 24

// Config describes a rate. A zero field means its documented default; without a
// rate and a burst every call is refused.
type Config struct {
	// Name appears in errors.
	Name string `yaml:"name"`
	// Config is the rate and the burst. A burst of 1 spaces calls evenly.
	bucket.Config
	// Wait is the longest that a call waits for its turn. 0 is 1 s; negative is
	// not at all. Raising it smooths longer bursts, and makes their last calls
	// later.
	Wait time.Duration `yaml:"wait" zero:"none"`
	// Waiting is how many calls may wait at once, of all keys together. 0 is
	// 1000 (F11); negative is none.
	Waiting int `yaml:"waiting" zero:"none"`
	// Keys is how many keys of a set are told apart. 0 is 10000. Raising it costs
	// about 50 bytes a key. A limiter has none.
	Keys int `yaml:"keys"`
}

// WithDefaults returns c with what was left out filled in.
func (c Config) WithDefaults() Config {
	c.Config = c.Config.WithDefaults()
	field.Default(&c.Wait, time.Second)
	field.Default(&c.Waiting, 1000)
	field.Default(&c.Keys, 10_000)
	return c
}

// Validate returns everything that is wrong with c.
func (c Config) Validate() policy.Problems {
	var check field.Check
	c = c.WithDefaults()
	check.Add(c.Config.Validate())
	check.Count("waiting", max(c.Waiting, 1), most)
	check.Count("keys", c.Keys, most)
	if c.Rate == 0 && c.Burst <= 0 {
		check.Warn("rate", "is 0 and there is no burst: every call is refused; write how many there may be a second")
	}
	return check.Problems()
}
