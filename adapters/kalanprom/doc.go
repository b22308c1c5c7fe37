// Package kalanprom shows Prometheus what guards do.
//
// In one line where the program's registry is:
//
//	registry.MustRegister(kalanprom.New(guard, another))
//
// A [Collector] reads the guards' snapshots when somebody scrapes, so that
// counting costs the calls nothing and nothing can be counted twice or missed.
// Names begin with kalan_, units are seconds and counts, and every label is
// bounded: guard is the guards' names, reason, outcome and state are closed
// lists. The gateway shows its upstreams with this collector.
//
//	kalan_calls_total, kalan_attempts_total, kalan_retries_total
//	kalan_refused_total{reason}, kalan_would_refuse_total{reason}
//	kalan_outcomes_total{outcome}, kalan_timeouts_total, kalan_left_total
//	kalan_wasted_total, kalan_presumed_dead_total, kalan_attempt_panics_total
//	kalan_breaker_state{state}, kalan_breaker_opened_total, kalan_breaker_score
//	kalan_budget_left, kalan_budget_denied_total
//	kalan_limit_slots, kalan_limit_too_high, kalan_slots_taken, kalan_slots_kept
//	kalan_waiting, kalan_oldest_wait_seconds
//	kalan_latency_mean_seconds, kalan_latency_deviation_seconds, kalan_latency_median_seconds
//	kalan_latency_base_seconds, kalan_latency_tail_seconds
//
// How long attempts took, as a histogram by outcome, is not in a snapshot. An
// [Observer] makes it from the guards' decisions (kalan.Watch), away from the
// calls:
//
//	kalan_attempt_duration_seconds{outcome}, kalan_events_missed_total
//
// # Limits
//
// Guards of one registry need names of their own: the registry refuses a scrape
// in which two have the same. An Observer sees as much as the guards' Trace
// keeps; without one it sees no attempt.
package kalanprom
