package kalanprom

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kalan-go/kalan/policy/stack"
)

// A reading is one number of a guard.
type reading struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
	of   func(*stack.Snapshot) float64
}

func describe(label, name, help string, more ...string) *prometheus.Desc {
	return prometheus.NewDesc("kalan_"+name, help, append([]string{label}, more...), nil)
}

// readings returns the numbers that need no label beside the guard's. Their
// names and what they mean are what dashboards are written against.
func readings(label string) []reading {
	var all []reading
	counter := func(name, help string, of func(*stack.Snapshot) uint64) {
		all = append(all, reading{describe(label, name, help), prometheus.CounterValue, func(s *stack.Snapshot) float64 { return float64(of(s)) }})
	}
	gauge := func(name, help string, of func(*stack.Snapshot) int) {
		all = append(all, reading{describe(label, name, help), prometheus.GaugeValue, func(s *stack.Snapshot) float64 { return float64(of(s)) }})
	}
	seconds := func(name, help string, of func(*stack.Snapshot) time.Duration) {
		all = append(all, reading{describe(label, name, help), prometheus.GaugeValue, func(s *stack.Snapshot) float64 { return of(s).Seconds() }})
	}
	counter("calls_total", "Calls that came to the guard.", func(s *stack.Snapshot) uint64 { return s.Counts.Calls })
	counter("attempts_total", "Attempts that were started.", func(s *stack.Snapshot) uint64 { return s.Counts.Started })
	counter("retries_total", "Attempts that were not their call's first.", func(s *stack.Snapshot) uint64 { return s.Counts.Retries })
	counter("timeouts_total", "Attempts that their own limit ended.", func(s *stack.Snapshot) uint64 { return s.Counts.Timeouts })
	counter("left_total", "Attempts whose caller left before the answer.", func(s *stack.Snapshot) uint64 { return s.Counts.Left })
	counter("wasted_total", "Answers that came when their callers' time was up: work that the dependency did for nobody.", func(s *stack.Snapshot) uint64 { return s.Counts.Wasted })
	counter("presumed_dead_total", "Attempts that were cut because their dependency was presumed dead.", func(s *stack.Snapshot) uint64 { return s.Counts.Presumed })
	counter("attempt_panics_total", "Panics of attempts that nobody waited for any more.", func(s *stack.Snapshot) uint64 { return s.Panics })
	counter("breaker_opened_total", "Times that the breaker opened.", func(s *stack.Snapshot) uint64 { return s.Counts.Opened })
	counter("budget_denied_total", "Retries and hedges that the budget refused.", func(s *stack.Snapshot) uint64 { return uint64(max(s.Budget.Denied, 0)) })
	gauge("limit_slots", "Attempts that may run at once.", func(s *stack.Snapshot) int { return s.Limit })
	gauge("slots_taken", "Slots that are taken.", func(s *stack.Snapshot) int { return s.InFlight })
	gauge("slots_kept", "Slots taken by bodies that still come and by attempts whose callers have left.", func(s *stack.Snapshot) int { return s.Kept })
	gauge("limit_too_high", "1 when the p99 is twice that of calm times although the limit was not reached: it protects nothing.", func(s *stack.Snapshot) int {
		if s.Slots.TooHigh {
			return 1
		}
		return 0
	})
	gauge("waiting", "Calls that wait for a slot.", func(s *stack.Snapshot) int { return s.Waiting })
	gauge("budget_left", "Retries and hedges that the budget would allow now.", func(s *stack.Snapshot) int { return int(s.Budget.Left) })
	gauge("breaker_score", "How near the breaker is to opening on attempts that are bad now.", func(s *stack.Snapshot) int { return s.Breaker.Score })
	all = append(all, reading{describe(label, "throttled_ratio", "The share of its calls that the throttle refuses now, of the level of which it refuses most."), prometheus.GaugeValue, func(s *stack.Snapshot) float64 { return s.Throttle.Share() }})
	seconds("oldest_wait_seconds", "How long the oldest waiter has waited.", func(s *stack.Snapshot) time.Duration { return s.Oldest })
	seconds("latency_mean_seconds", "Mean time of answered attempts, to the last byte.", func(s *stack.Snapshot) time.Duration { return s.Mean })
	seconds("latency_deviation_seconds", "Mean deviation of the time of answered attempts.", func(s *stack.Snapshot) time.Duration { return s.Deviation })
	seconds("latency_median_seconds", "Median time of answered attempts; 0 while there are too few of them.", func(s *stack.Snapshot) time.Duration { return s.Median })
	seconds("latency_tail_seconds", "p99 of the answers of which the limit is made.", func(s *stack.Snapshot) time.Duration { return s.Slots.P99 })
	seconds("latency_base_seconds", "Time of an answer that waits for no other, as an adaptive limit believes.", func(s *stack.Snapshot) time.Duration { return s.Slots.Base })
	return all
}
