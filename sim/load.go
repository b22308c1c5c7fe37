package sim

import (
	"time"

	"github.com/kalan-go/kalan/policy/breaker"
	"github.com/kalan-go/kalan/policy/budget"
	"github.com/kalan-go/kalan/policy/limit"
	"github.com/kalan-go/kalan/policy/retry"
	"github.com/kalan-go/kalan/policy/room"
	"github.com/kalan-go/kalan/policy/stack"
	"github.com/kalan-go/kalan/policy/throttle"
	"github.com/kalan-go/kalan/sim/random"
)

// A Load is who calls: one kind of callers.
type Load struct {
	// Name is its key in the file.
	Name string `yaml:"-"`
	// To is the service that is called, "service" or "service/route".
	To Target `yaml:"to"`
	// Rate is how many requests come a second, whatever becomes of them. 0: none
	// come by themselves; then it needs a profile, bursts, a trace or clients.
	Rate float64 `yaml:"rate"`
	// Even lets them come at even distances. Otherwise they come at random
	// (Poisson).
	Even bool `yaml:"even"`
	// Profile changes the rate in the course of time.
	Profile []Point `yaml:"profile"`
	// Bursts come on top.
	Bursts []Burst `yaml:"bursts"`
	// Trace is when single requests come.
	Trace []Arrival `yaml:"trace"`
	// Clients is the number of callers of a closed loop: each sends its next
	// request when it has the answer to the last and has thought. It sends
	// fewer when answers are late: latency is that of the requests that were
	// sent, not of those that would have been (coordinated omission).
	Clients int `yaml:"clients"`
	// Think is how long a client of the closed loop thinks. Left out: not at all,
	// or a millisecond after an answer that took no time.
	Think random.Law `yaml:"think"`
	// Deadline is how long a caller waits in all, retries included. 0: for ever.
	Deadline time.Duration `yaml:"deadline"`
	// Client is how each request is sent. Without it once, with no time limit
	// but the deadline.
	Client *Client `yaml:"client"`
	// Guard is a stack in each calling process, instead of Client.
	Guard *Guard `yaml:"guard"`
	// Processes is how many processes the callers are spread over, each with a
	// client or a guard of its own. 0 means 1.
	Processes int `yaml:"processes"`
	// Tenants is how many callers there are for whoever serves them in turn. 0
	// means 1.
	Tenants int `yaml:"tenants"`
	// Weight is each tenant's share against others, at most 255. 0 means 1.
	Weight uint8 `yaml:"weight"`
	// Priority is the level of the requests, from 0, the most important, to 255.
	Priority uint8 `yaml:"priority"`
	// Unsafe says that doing it twice may do it twice: what ran out of time is
	// not tried again, and nothing is hedged (B9).
	Unsafe bool `yaml:"unsafe"`
	// Keys is how many different values are asked for, each as often as the
	// others. 0 means 1.
	Keys int `yaml:"keys"`
}

// A Point is where the rate changes.
type Point struct {
	// At is when.
	At time.Duration `yaml:"at"`
	// Rate is how many requests come a second from then on.
	Rate float64 `yaml:"rate"`
	// Ramp lets the rate change steadily until the next point.
	Ramp bool `yaml:"ramp"`
}

// A Burst is many requests at once.
type Burst struct {
	// At is when.
	At time.Duration `yaml:"at"`
	// Calls is how many; it is needed.
	Calls int `yaml:"calls"`
	// Over spreads them over a time. 0: all at the same instant.
	Over time.Duration `yaml:"over"`
}

// An Arrival is one request of a trace.
type Arrival struct {
	// At is when it comes, from the beginning of the run.
	At time.Duration `yaml:"at"`
	// Deadline is how long its caller waits. 0: as the load says.
	Deadline time.Duration `yaml:"deadline"`
	// Leaves is when the caller cancels, after At. 0: it does not.
	Leaves time.Duration `yaml:"leaves"`
}

// A Client is a way of calling without the library: as clients are configured
// everywhere. The zero Client sends a request once and waits for ever.
type Client struct {
	// Timeout is how long one attempt may take. 0: for ever.
	Timeout time.Duration `yaml:"timeout"`
	// Retry plans the attempts; without it there is one.
	Retry *retry.Config `yaml:"retry"`
	// Budget caps the retries; without it nothing does.
	Budget *budget.Config `yaml:"budget"`
	// Breaker stops calls; without it nothing does.
	Breaker *breaker.Config `yaml:"breaker"`
	// Throttle refuses a share of the calls while the service refuses a share
	// of them; without it none is refused.
	Throttle *throttle.Config `yaml:"throttle"`
	// Carry tells the service the time that remains.
	Carry bool `yaml:"carry"`
	// Blame counts errors of the caller's as failures of the service.
	Blame bool `yaml:"blame"`
	// Owner marks requests, so that no service behind retries for them (F20).
	Owner bool `yaml:"owner"`
}

// free is a budget that allows every retry.
var free = budget.Config{Ratio: 1 << 20, Floor: -1, Window: -1}

// stack returns the client as a stack whose gates are all open.
func (c Client) stack() stack.Config {
	s := stack.Config{
		Exchange: c.Timeout,
		Checkout: -1,
		Limit:    limit.None(),
		Room:     room.Config{Waiting: -1},
		Breaker:  breaker.Config{Mode: breaker.Disabled},
		Retry:    retry.Config{Attempts: 1},
		Budget:   free,
		Throttle: c.Throttle,
		Cancels:  true, // it closes its connection, and keeps no slot
	}
	if c.Retry != nil {
		s.Retry = *c.Retry
	}
	if c.Budget != nil {
		s.Budget = *c.Budget
	}
	if c.Breaker != nil {
		s.Breaker = *c.Breaker
	}
	return s
}
