package reconnect

import (
	"time"

	"github.com/kalan-go/kalan/internal/field"
	"github.com/kalan-go/kalan/jitter"
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/retry"
)

// Config describes how a client connects, and connects again. The zero value
// means the documented defaults.
type Config struct {
	// Name appears in errors.
	Name string `yaml:"name"`
	// Start stages the first connection, from Place. The zero value waits up to
	// 500 ms; with a place further back in the line it waits for its turn.
	Start jitter.Start `yaml:"start"`
	// Place is where this client stands among those that start together:
	// jitter.PlaceOf its name, or jitter.Nth of several connections. The zero
	// value is the head of the line.
	Place jitter.Place `yaml:"-"`
	// Connect is how long a connection may take until it is ready, every stage
	// included: handshake, login, first subscription. 0 is 10 s.
	Connect time.Duration `yaml:"connect"`
	// Base is the longest wait after the first connection that is lost. 0 is
	// 2 s. Raising it spreads many clients of one server further.
	Base time.Duration `yaml:"base"`
	// Factor is by how much the wait grows with each further failure. 0 is 2.
	Factor float64 `yaml:"factor"`
	// Cap is the longest that the wait grows to. 0 is 60 s. Raising it makes
	// long outages cheaper, and their end is noticed later.
	Cap time.Duration `yaml:"cap"`
	// Jitter says how waits are spread; the zero value is retry.Full. One that
	// does not spread is refused.
	Jitter retry.Jitter `yaml:"jitter"`
	// Healthy is how long a connection has to have been ready for the next loss
	// to begin at Base again. 0 is 30 s. A server that accepts and closes at once
	// is failing.
	Healthy time.Duration `yaml:"healthy"`
	// Longest is the longest Retry-After that is waited for. 0 is 10 minutes.
	// It is never shortened: a server that asks for more ends the loop.
	Longest time.Duration `yaml:"longest"`
	// Lost, if not nil, hears why a connection ended and how long the wait will
	// be. It must not block.
	Lost func(err error, wait time.Duration) `yaml:"-"`
}

// WithDefaults returns c with what was left out filled in.
func (c Config) WithDefaults() Config {
	field.Default(&c.Base, 2*time.Second)
	field.Default(&c.Cap, max(time.Minute, c.Base))
	backoff := c.backoff().WithDefaults()
	c.Base, c.Factor, c.Cap = backoff.Base, backoff.Factor, backoff.Cap
	field.Default(&c.Connect, 10*time.Second)
	field.Default(&c.Healthy, 30*time.Second)
	field.Default(&c.Longest, 10*time.Minute)
	c.Start = c.Start.WithDefaults()
	return c
}

// Validate returns everything that is wrong with c.
func (c Config) Validate() policy.Problems {
	var check field.Check
	c = c.WithDefaults()
	check.Add(c.Start.Validate().Under("start"))
	check.Add(c.backoff().Validate())
	if c.Jitter == retry.Constant || c.Jitter == retry.AtOnce {
		check.Refuse("jitter", "%v brings everybody back who was lost together, together; write full, equal or decorrelated", c.Jitter)
	}
	check.Duration("connect", c.Connect)
	check.Duration("healthy", c.Healthy)
	check.Duration("longest", c.Longest)
	return check.Problems()
}

// backoff is the part of c that package retry decides.
func (c Config) backoff() retry.Config {
	return retry.Config{Base: c.Base, Factor: c.Factor, Cap: c.Cap, Jitter: c.Jitter}
}
