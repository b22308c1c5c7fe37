package drain

import (
	"time"

	"github.com/kalan-go/kalan/policy"
)

// A State is where a process stands between serving and having left.
type State uint8

const (
	// Ready: in the list, and serving.
	Ready State = iota
	// Leaving: readiness says no, and everything is served as before: balancers
	// do not know yet.
	Leaving
	// Finishing: nothing new is taken; what is in flight goes on.
	Finishing
	// Closed: nothing is in flight, or what was has been cut.
	Closed
)

// String returns the state's name.
func (s State) String() string {
	switch s {
	case Ready:
		return "ready"
	case Leaving:
		return "leaving"
	case Finishing:
		return "finishing"
	case Closed:
		return "closed"
	}
	return "invalid"
}

// A Machine is the order of leaving, told the time: it does not wait, reads no
// clock and does no locking. Every verb moves it first to where it stands at
// now; a now that is smaller than one already seen counts as that one (O-12).
// It is made by NewMachine, which is for drivers of one's own; most use a Drain.
type Machine struct {
	delay, finish time.Duration
	now, until    policy.Instant
	state         State
	inFlight, cut int
}

// NewMachine returns a machine that is ready.
func NewMachine(c Config) Machine {
	c = c.WithDefaults()
	return Machine{delay: max(c.Delay, 0), finish: max(c.Finish, 0), until: policy.Never}
}

// Enter asks for a piece of work to be begun. It is counted as in flight, until
// Exit, unless the answer is no: from Finishing on.
func (m *Machine) Enter(now policy.Instant) bool {
	m.Look(now)
	if m.state >= Finishing {
		return false
	}
	m.inFlight++
	return true
}

// Exit says that a piece of work which was let in has ended.
func (m *Machine) Exit(now policy.Instant) {
	m.inFlight = max(0, m.inFlight-1)
	m.Look(now)
}

// Leave begins to leave. It changes nothing when that has begun before.
func (m *Machine) Leave(now policy.Instant) {
	m.Look(now)
	if m.state == Ready {
		m.state, m.until = Leaving, m.now.Add(m.delay)
		m.Look(now)
	}
}

// Abort closes at once, whatever is in flight.
func (m *Machine) Abort(now policy.Instant) {
	m.Look(now)
	if m.state != Closed {
		m.close()
	}
}

// Look returns where the machine stands at now, and until when it will stand
// there if nothing happens.
func (m *Machine) Look(now policy.Instant) (State, policy.Instant) {
	m.now = max(m.now, now)
	if m.state == Leaving && m.now >= m.until {
		m.state, m.until = Finishing, m.until.Add(m.finish)
	}
	if m.state == Finishing && (m.inFlight == 0 || m.now >= m.until) {
		m.close()
	}
	return m.state, m.until
}

func (m *Machine) close() {
	m.state, m.until, m.cut = Closed, policy.Never, m.inFlight
}

// InFlight returns how many pieces of work have been let in and have not ended.
func (m *Machine) InFlight() int { return m.inFlight }

// Cut returns how many were in flight when the machine closed.
func (m *Machine) Cut() int { return m.cut }
