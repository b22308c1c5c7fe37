package retry

import (
	"time"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/budget"
)

// A Call is one call's place in its plan: a value of 64 bytes without pointers
// that the driver keeps where it likes. Make one with Plan.Begin; do not copy
// one that is in use. The zero Call is expired.
type Call struct {
	// Deadline is the instant at which nobody waits for the call any more. It
	// may be moved to an earlier instant while the call goes on.
	Deadline policy.Instant

	seed     uint64
	at       policy.Instant // when the next attempt, or the hedge, is due
	last     time.Duration  // the backoff before
	mark     budget.Mark    // of the attempt that is decided and not launched
	attempts int32
	flying   int32 // launched and not settled
	state    state
	why      policy.Reason
}

type state uint8

const (
	fresh   state = iota // nothing asked for yet
	ready                // a launch was asked for
	running              // an attempt is out
	waiting              // the next attempt is decided, and due at Call.at
	stopped
)

// Why returns the reason for which the call stopped: None after a success or a
// business error, and while it has not stopped.
func (c *Call) Why() policy.Reason { return c.why }

// Attempts returns how many attempts have been launched.
func (c *Call) Attempts() int { return int(c.attempts) }

// Stopped reports whether there will be no further attempt.
func (c *Call) Stopped() bool { return c.state == stopped }

// giveUp ends a launch that came to nothing: the call with it, unless another
// attempt is still out.
func (c *Call) giveUp(why policy.Reason) {
	if c.flying > 0 {
		c.state, c.at = running, policy.Never
		return
	}
	c.stop(why)
}

func (c *Call) stop(why policy.Reason) {
	c.state, c.why = stopped, why
}
