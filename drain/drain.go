// Package drain takes a process out of service without anybody noticing.
//
// Two things go wrong when a server simply stops. It closes its door before the
// balancers know, and each rollout refuses connections for seconds (O-34); or it
// waits for its last request for ever, and is killed with all of them. The order
// that works has four states:
//
//	ready ──Run──▶ leaving ──delay──▶ finishing ──idle, or finish──▶ closed
//
//	           readiness   new work   work in flight
//	ready      yes         taken      goes on
//	leaving    no          taken      goes on        (5 s: balancers notice)
//	finishing  no          refused    goes on        (20 s at most)
//	closed     no          refused    is cut, and counted
//
// Liveness stays yes all the way: a process that leaves is not broken. The
// platform's grace period has to be longer than delay and finish together, or
// it kills in between; Config.Validate says so. For a second signal to cut it
// short, cancel Run's context.
//
// The [Machine] decides and is told the time; a [Drain] drives it by the
// monotonic clock, so that a step of the wall clock neither ends a drain early
// nor prolongs it (O-12).
//
// Use it for servers of any protocol: wrap each piece of work in Enter and Exit,
// serve Ready as the readiness probe, and call Run when the signal comes.
// kalanhttp.Handler and kalangrpc.Server do the first by themselves, and speak
// their protocol's farewell: all they need is the Drain. For others, tell the
// peers to close from Leaving on ([Drain.State]), and end long streams when
// [Drain.Finishing] is closed.
package drain

import (
	"sync"
	"time"

	"github.com/kalan-go/kalan/internal/field"
	"github.com/kalan-go/kalan/policy"
)

// A Drain is the way out of one process. It is made by New and safe for
// concurrent use.
type Drain struct {
	epoch     time.Time
	wake      chan struct{} // look again
	finishing chan struct{}

	mu      sync.Mutex
	machine Machine

	once sync.Once
	cut  int
	err  error
}

// New returns a drain of a process that is ready. The error lists everything
// that is wrong with config.
func New(config Config) (*Drain, error) {
	if err := field.Error("drain", "", config.Validate()); err != nil {
		return nil, err
	}
	return &Drain{
		epoch: time.Now(), machine: NewMachine(config),
		wake: make(chan struct{}, 1), finishing: make(chan struct{}),
	}, nil
}

// Enter asks for a piece of work to be begun: a request, not a connection. When
// the answer is yes, call Exit at its end; when it is no, refuse it.
func (d *Drain) Enter() bool {
	now := d.now()
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.machine.Enter(now)
}

// Exit says that a piece of work has ended for which Enter said yes.
func (d *Drain) Exit() {
	now := d.now()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.machine.Exit(now); d.machine.state == Closed {
		d.signal()
	}
}

// Ready reports whether the process should be in the list of those who serve.
func (d *Drain) Ready() bool { return d.State() == Ready }

// State returns where the process stands.
func (d *Drain) State() State {
	state, _ := d.look()
	return state
}

// InFlight returns how many pieces of work have been begun and have not ended.
func (d *Drain) InFlight() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.machine.InFlight()
}

// Finishing returns a channel that Run closes when nothing new is taken any
// more: long streams end themselves then.
func (d *Drain) Finishing() <-chan struct{} { return d.finishing }

func (d *Drain) look() (State, policy.Instant) {
	now := d.now()
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.machine.Look(now)
}

// signal makes Run look again. One token is enough for any number of reasons.
func (d *Drain) signal() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// now goes by the monotonic clock, which epoch carries.
func (d *Drain) now() policy.Instant { return policy.Instant(time.Since(d.epoch)) }
