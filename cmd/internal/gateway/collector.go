package gateway

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/breaker"
	"github.com/kalan-go/kalan/policy/stack"
)

// A collector reads the guards when somebody asks, so that counting costs the
// requests nothing.
type collector struct{ *Gateway }

// A reading is one number of a guard.
type reading struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
	of   func(stack.Snapshot) float64
}

func counter(name, help string, of func(stack.Snapshot) uint64) reading {
	return reading{describe(name, help), prometheus.CounterValue, func(s stack.Snapshot) float64 { return float64(of(s)) }}
}

func gauge(name, help string, of func(stack.Snapshot) int) reading {
	return reading{describe(name, help), prometheus.GaugeValue, func(s stack.Snapshot) float64 { return float64(of(s)) }}
}

func duration(name, help string, of func(stack.Snapshot) time.Duration) reading {
	return reading{describe(name, help), prometheus.GaugeValue, func(s stack.Snapshot) float64 { return of(s).Seconds() }}
}

func describe(name, help string, more ...string) *prometheus.Desc {
	return prometheus.NewDesc("kalan_"+name, help, append([]string{"upstream"}, more...), nil)
}

var readings = []reading{
	counter("calls_total", "Calls that came to the guard.", func(s stack.Snapshot) uint64 { return s.Counts.Calls }),
	counter("attempts_total", "Attempts that were started.", func(s stack.Snapshot) uint64 { return s.Counts.Started }),
	counter("retries_total", "Attempts that were not their call's first.", func(s stack.Snapshot) uint64 { return s.Counts.Retries }),
	counter("timeouts_total", "Attempts that their own limit ended.", func(s stack.Snapshot) uint64 { return s.Counts.Timeouts }),
	counter("left_total", "Attempts whose caller left before the answer.", func(s stack.Snapshot) uint64 { return s.Counts.Left }),
	counter("wasted_total", "Answers that came when their callers' time was up: work that the upstream did for nobody.", func(s stack.Snapshot) uint64 { return s.Counts.Wasted }),
	counter("presumed_dead_total", "Attempts that were cut because their upstream was presumed dead.", func(s stack.Snapshot) uint64 { return s.Counts.Presumed }),
	counter("breaker_opened_total", "Times that the breaker opened.", func(s stack.Snapshot) uint64 { return s.Counts.Opened }),
	counter("budget_denied_total", "Retries that the budget refused.", func(s stack.Snapshot) uint64 { return uint64(max(s.Budget.Denied, 0)) }),
	gauge("limit_slots", "Attempts that may run at once.", func(s stack.Snapshot) int { return s.Limit }),
	gauge("slots_taken", "Slots that are taken.", func(s stack.Snapshot) int { return s.InFlight }),
	gauge("slots_kept", "Slots taken by bodies that still come and by exchanges whose callers have left.", func(s stack.Snapshot) int { return s.Kept }),
	gauge("limit_too_high", "1 when the p99 is twice that of calm times although the limit was not reached: it protects nothing.", func(s stack.Snapshot) int {
		if s.Slots.TooHigh {
			return 1
		}
		return 0
	}),
	duration("latency_tail_seconds", "p99 of the answers of which the limit is made.", func(s stack.Snapshot) time.Duration { return s.Slots.P99 }),
	duration("latency_base_seconds", "Time of an answer that waits for no other, as an adaptive limit believes.", func(s stack.Snapshot) time.Duration { return s.Slots.Base }),
	gauge("waiting", "Calls that wait for a slot.", func(s stack.Snapshot) int { return s.Waiting }),
	gauge("budget_left", "Retries that the budget would allow now.", func(s stack.Snapshot) int { return int(s.Budget.Left) }),
	gauge("breaker_score", "How near the breaker is to opening on attempts that are bad now.", func(s stack.Snapshot) int { return s.Breaker.Score }),
	duration("oldest_wait_seconds", "How long the oldest waiter has waited.", func(s stack.Snapshot) time.Duration { return s.Oldest }),
	duration("latency_mean_seconds", "Mean time of answered attempts, to the last byte.", func(s stack.Snapshot) time.Duration { return s.Mean }),
	duration("latency_deviation_seconds", "Mean deviation of that time.", func(s stack.Snapshot) time.Duration { return s.Deviation }),
}

var (
	descRefused  = describe("refused_total", "Calls that the guard ended without an answer.", "reason")
	descWould    = describe("would_refuse_total", "What an upstream that only observes would have refused, or kept waiting for a slot (full).", "reason")
	descOutcome  = describe("outcomes_total", "What attempts said of the upstream.", "outcome")
	descBreaker  = describe("breaker_state", "1 for the state that the breaker is in.", "state")
	descReady    = prometheus.NewDesc("kalan_ready", "1 while readiness says yes.", nil, nil)
	descInFlight = prometheus.NewDesc("kalan_requests_in_flight", "Requests whose callers wait.", nil, nil)
	descBusy     = prometheus.NewDesc("kalan_workers_busy", "Workers that are busy; 0 without a cap.", nil, nil)
	descQueue    = prometheus.NewDesc("kalan_workers_waiting", "Requests that wait for a worker.", nil, nil)
)

// Describe sends what Collect will.
func (c collector) Describe(out chan<- *prometheus.Desc) {
	for _, r := range readings {
		out <- r.desc
	}
	for _, d := range []*prometheus.Desc{descRefused, descWould, descOutcome, descBreaker, descReady, descInFlight, descBusy, descQueue} {
		out <- d
	}
	for _, d := range entranceDescs {
		out <- d
	}
}

// Collect reads everything once.
func (c collector) Collect(out chan<- prometheus.Metric) {
	ready := 0.
	if c.drain.Ready() {
		ready = 1
	}
	for desc, value := range map[*prometheus.Desc]float64{
		descReady: ready, descInFlight: float64(c.inflight.Load()),
		descBusy: float64(len(c.workers.busy)), descQueue: float64(c.workers.waiting.Load()),
	} {
		out <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value)
	}
	c.collectEntrance(out)
	for _, u := range c.upstreams {
		collect(out, u.name, u.guard.Snapshot(), u.config.Observe)
	}
}

func collect(out chan<- prometheus.Metric, upstream string, s stack.Snapshot, observes bool) {
	for _, r := range readings {
		out <- prometheus.MustNewConstMetric(r.desc, r.kind, r.of(s), upstream)
	}
	for why := range policy.Reasons {
		if reason := policy.Reason(why); reason != policy.None {
			out <- prometheus.MustNewConstMetric(descRefused, prometheus.CounterValue, float64(s.Counts.Refused[why]), upstream, reason.String())
		}
	}
	for reason, n := range map[policy.Reason]uint64{
		policy.Open: s.Breaker.Refused, policy.Rate: s.Rate.Refused, policy.Full: s.Slots.Over,
		policy.Shed: s.Room.WouldShed, policy.Expired: s.Room.WouldExpire + s.Counts.Hopeless,
	} {
		if !observes {
			n = 0
		}
		out <- prometheus.MustNewConstMetric(descWould, prometheus.CounterValue, float64(n), upstream, reason.String())
	}
	for i, n := range s.Counts.Outcomes {
		out <- prometheus.MustNewConstMetric(descOutcome, prometheus.CounterValue, float64(n), upstream, policy.Outcome(i).String())
	}
	for _, state := range []breaker.State{breaker.Closed, breaker.Open, breaker.HalfOpen} {
		is := 0.
		if s.Breaker.State == state {
			is = 1
		}
		out <- prometheus.MustNewConstMetric(descBreaker, prometheus.GaugeValue, is, upstream, state.String())
	}
}
