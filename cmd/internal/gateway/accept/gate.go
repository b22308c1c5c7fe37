// Package accept decides on new connections, for the gateway: at a rate, for
// each address at a rate, and up to a number of open ones. What is over is
// refused at once and never held, since a queue of connections is a queue of
// callers who have left by the time they are served (F4).
//
// After an outage everybody reconnects at once. Those who are refused are told
// when to come back, and told apart: the first at the range's start, and after
// them as many a second as the rate takes, each with the range's width of
// jitter. So those who come back when they were told find the rate enough for
// them, also when there are more than fit into the range.
//
// A refusal by one limit spends nothing of another: one looping client uses up
// its own rate, and not everybody's.
package accept

import (
	"net"
	"sync/atomic"
	"time"

	"github.com/kalan-go/kalan/cmd/internal/gateway/quota"
	"github.com/kalan-go/kalan/internal/settings"
	"github.com/kalan-go/kalan/policy"
)

// A Config says what a gate lets through and how it refuses.
type Config struct {
	settings.Accept
	// Now is the clock.
	Now func() policy.Instant
	// Answer writes what a refused connection is told, given in how many
	// seconds to come back. nil closes it without a word, as a listener does
	// whose connections begin with a TLS handshake: a refusal in the clear is
	// no message there, and a handshake is what is to be saved.
	Answer func(Limit, int64) []byte
	// Refused hears of each refusal how long after the connection came it was
	// told. It may be called by several goroutines.
	Refused func(time.Duration)
}

// A Gate lets connections through. It is safe for concurrent use.
type Gate struct {
	config    Config
	rate      *shared
	addresses *quota.Table
	open      atomic.Int64
	accepted  atomic.Uint64
	refused   [Limits]atomic.Uint64
	farewells farewells
}

// New returns a gate for a configuration with its defaults.
func New(c Config) *Gate {
	return &Gate{
		config:    c,
		rate:      newShared(c.Rate, c.Burst, c.RetryAfter),
		addresses: quota.New(c.PerAddress.Rate, c.PerAddress.Burst, c.Keys),
	}
}

// Admit decides on a connection that has just come. place is the number of its
// address; none is given where many callers share it. One that is refused is
// answered and closed, without the caller of Admit waiting for it.
func (g *Gate) Admit(c net.Conn, place uint64, shared bool) bool {
	came := g.config.Now()
	over, is := g.over(came, place, shared)
	if is {
		g.refused[over].Add(1)
	}
	if !is || g.config.Observe && over != Open {
		g.open.Add(1)
		g.accepted.Add(1)
		return true
	}
	g.refuse(c, came, over)
	return false
}

// Leave says that an admitted connection is closed.
func (g *Gate) Leave() { g.open.Add(-1) }

// Wait waits until every refused connection is closed.
func (g *Gate) Wait() { g.farewells.Wait() }

// over returns which limit a connection is over, if it is over one.
func (g *Gate) over(now policy.Instant, place uint64, shared bool) (Limit, bool) {
	if g.open.Load() >= int64(g.config.Connections) {
		return Open, true
	}
	if !shared {
		if _, ok := g.addresses.Take(now, place); !ok {
			return Address, true
		}
	}
	if g.rate.allow(now) {
		return 0, false
	}
	if !shared {
		g.addresses.Undo(now, place)
	}
	return Rate, true
}

// A Snapshot is how a gate stands.
type Snapshot struct {
	// Open connections, of so many that there may be.
	Open, Most int64
	// Accepted and Refused since the start; when only observing, Refused counts
	// those that would have been.
	Accepted uint64
	Refused  [Limits]uint64
	// Addresses are the callers that are told apart.
	Addresses quota.Snapshot
}

// Snapshot returns how the gate stands.
func (g *Gate) Snapshot() Snapshot {
	s := Snapshot{
		Open: g.open.Load(), Most: int64(g.config.Connections),
		Accepted: g.accepted.Load(), Addresses: g.addresses.Snapshot(),
	}
	for i := range g.refused {
		s.Refused[i] = g.refused[i].Load()
	}
	return s
}
