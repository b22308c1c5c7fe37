package drain

import (
	"time"

	"github.com/kalan-go/kalan/internal/field"
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/span"
)

// Config describes how a process leaves. The zero value means the documented
// defaults.
type Config struct {
	// Delay is how long to work on as before after readiness has said no, until
	// everybody who balances has noticed. 0 is 5 s; negative is none. It has to
	// be longer than a readiness probe's period times its failure threshold,
	// plus what it takes the balancer to act on it; raising it delays every
	// rollout and loses fewer connections.
	Delay time.Duration `yaml:"delay" zero:"none"`
	// Finish is how long work in flight may take once nothing new is taken.
	// 0 is 20 s; negative is none, and everything in flight is cut. Raising it
	// cuts less and delays a rollout that waits for something that hangs.
	Finish time.Duration `yaml:"finish" zero:"none"`
	// Grace is the time that the platform gives from the signal to the kill, in
	// a pod's manifest terminationGracePeriodSeconds. 0 is 30 s. It changes
	// nothing here; delay and finish together have to be shorter.
	Grace time.Duration `yaml:"grace"`
}

// WithDefaults returns c with what was left out filled in.
func (c Config) WithDefaults() Config {
	field.Default(&c.Delay, 5*time.Second)
	field.Default(&c.Finish, 20*time.Second)
	field.Default(&c.Grace, 30*time.Second)
	return c
}

// Validate returns everything that is wrong with c.
func (c Config) Validate() policy.Problems {
	var check field.Check
	c = c.WithDefaults()
	check.Duration("grace", c.Grace)
	delay, finish := max(c.Delay, 0), max(c.Finish, 0)
	if sum := span.Add(delay, finish); c.Grace > 0 && sum >= c.Grace {
		check.Refuse("grace", "%v is not longer than delay and finish together (%v and %v), so that the process is killed in between; write more than %v, or shorten them", c.Grace, delay, finish, sum)
	}
	return check.Problems()
}
