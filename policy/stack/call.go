package stack

import (
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/retry"
)

// flights is how many attempts of one call may be running at once.
const flights = 3

// Ask is what a caller brings to a call.
type Ask struct {
	// Deadline is when the caller stops waiting; policy.Never when it does not.
	Deadline policy.Instant
	// Seed draws the call's jitter. Equal seeds draw equal waits.
	Seed uint64
	// Flow is a hash of who asks: the tenant.
	Flow uint32
	// Level is the call's priority; 0 is the most important.
	Level uint8
	// Route is the kind of work, below Routes: how long it takes is learned for
	// each by itself.
	Route uint8
	// Weight is the flow's share against other flows; 0 means 1.
	Weight uint8
	// Hedge allows a second attempt beside one that has not answered, when the
	// plan has a delay for it.
	Hedge bool
	// Unsafe says that doing it twice may do it twice: an attempt that its time
	// limit ended is followed by no other, since the work may have been done
	// (O-17). What a Report says was never sent may still be repeated.
	Unsafe bool
	// Once forbids retries and hedges: another layer owns them (F20).
	Once bool
}

// A Call is the state of one call, owned by the driver and told to every verb.
// Fill in Ask, tell Begin, and do not copy it after that. It holds nothing that
// outlives it: the attempts it leaves behind are the stack's.
type Call struct {
	// Ask is what the caller brings; not to be changed after Begin.
	Ask      Ask
	plan     retry.Call
	waiting  Ticket          // the attempt that waits for its slot, or has it and has not looked
	flight   [flights]Ticket // the attempts that run
	running  uint8
	over     bool
	timedOut bool // the last attempt ended by its own limit
	why      policy.Reason
	retryAt  policy.Instant
}

// Why returns why the call ended without an answer; policy.None after an
// answer, and policy.Spent, policy.Budget or policy.Expired when the last
// attempt's own error is the answer's cause.
func (c *Call) Why() policy.Reason { return c.why }

// Over reports whether the call has ended: there is nothing to ask Next for.
func (c *Call) Over() bool { return c.over }

// TimedOut reports whether the last attempt was ended by its own time limit.
func (c *Call) TimedOut() bool { return c.timedOut }

// RetryAt returns when a refused caller may come back; 0 when nothing is known.
func (c *Call) RetryAt() policy.Instant { return c.retryAt }

// Attempts returns how many attempts were started; right after a Start it is
// that attempt's number.
func (c *Call) Attempts() int { return c.plan.Attempts() }

func (c *Call) takeOff(t Ticket) {
	for i := range c.flight[:c.running] {
		if c.flight[i] == t {
			if c.running--; uint8(i) != c.running {
				c.flight[i] = c.flight[c.running]
			}
			return
		}
	}
}

func (c *Call) putOn(t Ticket) {
	c.flight[c.running] = t
	c.running++
}

func (c *Call) end(why policy.Reason) {
	if !c.over {
		c.over, c.why = true, why
	}
}

// Kind says what a Step asks the driver to do.
type Kind uint8

const (
	// Done: the call is over; Call.Why says why.
	Done Kind = iota
	// Start: run the attempt that Ticket names, and tell of its end.
	Start
	// Wait: ask again at Until, when the Ticket's owner is woken, or when the
	// caller leaves.
	Wait
)

// A Step is what a driver has to do next. It has four fields and 32 bytes, the
// most that the compiler returns in registers.
type Step struct {
	Kind Kind
	// Ticket names the attempt to start, or the one that waits for its slot.
	// Zero while a call waits for nothing but time.
	Ticket Ticket
	// Until is when to ask again (Wait), or when the attempt's answer is no
	// longer wanted (Start).
	Until policy.Instant
	// Bound is when the dependency is presumed dead and the attempt must be
	// cut off, also when its caller has left (Start).
	Bound policy.Instant
}
