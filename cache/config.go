package cache

import (
	"time"

	"github.com/kalan-go/kalan/internal/field"
	"github.com/kalan-go/kalan/jitter"
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/span"
)

// most bounds counts, so that a slip of the finger is not an allocation.
const most = 1 << 30

// Config describes a cache. The zero value means the documented defaults.
type Config struct {
	// Name appears in errors.
	Name string `yaml:"name"`
	// Lifetime is how long a value is valid. 0 is 300 s. Raising it saves
	// loads and serves older values.
	Lifetime time.Duration `yaml:"lifetime"`
	// Spread is how far a lifetime may lie from its middle, as a fraction of
	// it; it holds for Lifetime, Missing and Failed. 0 is 0.2; negative is
	// none, and what was loaded together ends together.
	Spread float64 `yaml:"spread" zero:"none"`
	// Beta says how early a value is refreshed while it is still valid. 0 is
	// 1; negative is never. Above 1 values are refreshed earlier and more often.
	Beta float64 `yaml:"beta" zero:"none"`
	// Stale is how long past its end a value is still served when it cannot be
	// loaded anew. 0 is as long as Lifetime; negative is not at all. Raising it
	// carries readers over a longer outage, with older values.
	Stale time.Duration `yaml:"stale" zero:"none"`
	// Missing is how long the answer that there is no such value is kept (see
	// [ErrMissing]). 0 is a tenth of Lifetime; negative is not at all. Raising
	// it hides new values longer, and keeps a flood of wrong keys away longer.
	Missing time.Duration `yaml:"missing" zero:"none"`
	// Failed is how long nobody tries again after a load that failed. 0 is
	// 1 s; negative is not at all, and then every reader of a value that cannot
	// be loaded tries. Raising it spares a dependency that is down, and notices
	// its recovery later.
	Failed time.Duration `yaml:"failed" zero:"none"`
	// Timeout is how long one load may take. 0 is 3 s. Readers wait no longer
	// than this whatever the loader does.
	Timeout time.Duration `yaml:"timeout"`
	// Loads is how many loads may run at once, those included that have passed
	// their Timeout and have not returned. 0 is 1000. At the cap a reader gets a
	// stale value or policy.Full, at once.
	Loads int `yaml:"loads"`
	// Keys is how many keys are kept. 0 is 10000. Raising it costs memory and
	// saves loads.
	Keys int `yaml:"keys"`
}

// WithDefaults returns c with what was left out filled in.
func (c Config) WithDefaults() Config {
	lifetime := jitter.Lifetime{Value: c.Lifetime, Share: c.Spread}.WithDefaults()
	c.Lifetime, c.Spread = lifetime.Value, lifetime.Share
	field.Default(&c.Beta, 1)
	field.Default(&c.Stale, c.Lifetime)
	field.Default(&c.Missing, max(c.Lifetime/10, 1))
	field.Default(&c.Failed, time.Second)
	field.Default(&c.Timeout, 3*time.Second)
	field.Default(&c.Loads, 1000)
	field.Default(&c.Keys, 10_000)
	return c
}

// Validate returns everything that is wrong with c.
func (c Config) Validate() policy.Problems {
	var check field.Check
	c = c.WithDefaults()
	check.Duration("lifetime", c.Lifetime)
	check.Number("spread", max(c.Spread, 0), 0, 1)
	check.Number("beta", max(c.Beta, 0), 0, 1000)
	check.Duration("timeout", c.Timeout)
	check.Count("loads", c.Loads, most)
	check.Count("keys", c.Keys, most)
	if c.Failed > c.Lifetime && c.Lifetime > 0 {
		check.Warn("failed", "%v is longer than the lifetime of %v: a failure is remembered longer than a value; write a shorter one", c.Failed, c.Lifetime)
	}
	return check.Problems()
}

// pick spreads a lifetime; one that is none stays none.
func (c *Config) pick(d time.Duration, u float64) time.Duration {
	return jitter.Around(d, max(c.Spread, 0), u)
}

// patience returns how long past its end a value may be served.
func (c *Config) patience() time.Duration { return span.Clamp(c.Stale, 0, span.Max) }
