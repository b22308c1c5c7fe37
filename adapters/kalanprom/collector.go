package kalanprom

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/breaker"
	"github.com/kalan-go/kalan/policy/stack"
)

// A Collector shows guards to Prometheus. It is safe for concurrent use. Use
// [New] or [NewFor].
type Collector struct {
	guards   func() []*kalan.Guard
	readings []reading
	refused  *prometheus.Desc
	would    *prometheus.Desc
	outcomes *prometheus.Desc
	state    *prometheus.Desc
}

// New returns a collector of these guards, whose label is "guard".
func New(guards ...*kalan.Guard) *Collector {
	return NewFor("guard", func() []*kalan.Guard { return guards })
}

// NewFor returns a collector of guards that come and go: they are asked for at
// every scrape. Their names are the values of the label.
func NewFor(label string, guards func() []*kalan.Guard) *Collector {
	c := &Collector{guards: guards, readings: readings(label)}
	c.refused = describe(label, "refused_total", "Calls that the guard ended without an answer.", "reason")
	c.would = describe(label, "would_refuse_total", "What a guard that only observes would have refused, or kept waiting for a slot (full).", "reason")
	c.outcomes = describe(label, "outcomes_total", "What attempts said of the dependency.", "outcome")
	c.state = describe(label, "breaker_state", "1 for the state that the breaker is in.", "state")
	return c
}

// Describe sends what Collect will.
func (c *Collector) Describe(out chan<- *prometheus.Desc) {
	for _, r := range c.readings {
		out <- r.desc
	}
	out <- c.refused
	out <- c.would
	out <- c.outcomes
	out <- c.state
}

// Collect reads every guard once.
func (c *Collector) Collect(out chan<- prometheus.Metric) {
	for _, g := range c.guards() {
		c.collect(out, g.Name(), g.Snapshot(), g.Config())
	}
}

func (c *Collector) collect(out chan<- prometheus.Metric, name string, s stack.Snapshot, config stack.Config) {
	for _, r := range c.readings {
		out <- prometheus.MustNewConstMetric(r.desc, r.kind, r.of(&s), name)
	}
	for i, n := range s.Counts.Refused {
		if why := policy.Reason(i); why != policy.None {
			out <- prometheus.MustNewConstMetric(c.refused, prometheus.CounterValue, float64(n), name, why.String())
		}
	}
	for _, w := range would(&s, config) {
		out <- prometheus.MustNewConstMetric(c.would, prometheus.CounterValue, float64(w.n), name, w.why.String())
	}
	for i, n := range s.Counts.Outcomes {
		out <- prometheus.MustNewConstMetric(c.outcomes, prometheus.CounterValue, float64(n), name, policy.Outcome(i).String())
	}
	for _, state := range [...]breaker.State{breaker.Closed, breaker.Open, breaker.HalfOpen} {
		is := 0.
		if s.Breaker.State == state {
			is = 1
		}
		out <- prometheus.MustNewConstMetric(c.state, prometheus.GaugeValue, is, name, state.String())
	}
}

// An unenforced count is of what was let through and would have been refused.
type unenforced struct {
	why policy.Reason
	n   uint64
}

// would returns what a guard would have refused, by reason. Each policy may be
// observed by itself; what one counts while it enforces was refused, and is
// counted among that.
func would(s *stack.Snapshot, c stack.Config) [6]unenforced {
	watched := func(observes bool, n uint64) uint64 {
		if !observes {
			return 0
		}
		return n
	}
	return [...]unenforced{
		{policy.Open, watched(s.Breaker.Mode == breaker.Observe, s.Breaker.Refused)},
		{policy.Throttled, watched(c.Observe || c.Throttle != nil && c.Throttle.Observe, s.Throttle.Refused)},
		{policy.Rate, watched(c.Observe, s.Rate.Refused)},
		{policy.Full, watched(c.Observe || c.Limit.Observe, s.Slots.Over)},
		{policy.Shed, s.Room.WouldShed},
		{policy.Expired, s.Room.WouldExpire + watched(c.Observe, s.Counts.Hopeless)},
	}
}
