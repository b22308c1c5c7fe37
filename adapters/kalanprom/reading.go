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

// readings returns the numbers that need no label beside the guard's.
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
	counter("presumed_dead_total", "Attempts that were cut because their dependency was presumed dead.", func(s *stack.Snapshot) uint64 { return s.Counts.Presumed })
	counter("attempt_panics_total", "Panics of attempts that nobody waited for any more.", func(s *stack.Snapshot) uint64 { return s.Panics })
	counter("breaker_opened_total", "Times that the breaker opened.", func(s *stack.Snapshot) uint64 { return s.Counts.Opened })
	counter("budget_denied_total", "Retries that the budget refused.", func(s *stack.Snapshot) uint64 { return uint64(max(s.Budget.Denied, 0)) })
	gauge("limit_slots", "Attempts that may run at once.", func(s *stack.Snapshot) int { return s.Limit })
	gauge("slots_taken", "Slots that are taken.", func(s *stack.Snapshot) int { return s.InFlight })
	gauge("slots_kept", "Slots taken by bodies that still come and by attempts whose callers have left.", func(s *stack.Snapshot) int { return s.Kept })
	gauge("waiting", "Calls that wait for a slot.", func(s *stack.Snapshot) int { return s.Waiting })
	gauge("budget_left", "Retries that the budget would allow now.", func(s *stack.Snapshot) int { return int(s.Budget.Left) })
	gauge("breaker_score", "How near the breaker is to opening on attempts that are bad now.", func(s *stack.Snapshot) int { return s.Breaker.Score })
	seconds("oldest_wait_seconds", "How long the oldest waiter has waited.", func(s *stack.Snapshot) time.Duration { return s.Oldest })
	seconds("latency_mean_seconds", "Mean time of answered attempts, to the last byte.", func(s *stack.Snapshot) time.Duration { return s.Mean })
	seconds("latency_deviation_seconds", "Mean deviation of that time.", func(s *stack.Snapshot) time.Duration { return s.Deviation })
	seconds("latency_median_seconds", "Median of that time; 0 while too few attempts were answered.", func(s *stack.Snapshot) time.Duration { return s.Median })
	return all
}
