package openloop

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// A Tally counts results by outcome and keeps their latencies to three digits.
// The zero value is empty and ready. It is not safe for concurrent use; Run
// tells one result at a time.
type Tally struct {
	count [Outcomes]int
	took  [Outcomes]*hdrhistogram.Histogram
	lag   *hdrhistogram.Histogram
}

// longest is where the histograms end: nobody waits an hour for an answer.
const longest = time.Hour

// Hear counts one result.
func (t *Tally) Hear(r Result) {
	t.count[r.Outcome]++
	if r.Outcome == Unsent {
		return
	}
	record(&t.took[r.Outcome], r.Took)
	record(&t.lag, r.Lag)
}

// Count returns how many results had the outcome.
func (t *Tally) Count(o Outcome) int { return t.count[o] }

// Total returns how many results there were, unsent ones included.
func (t *Tally) Total() int {
	total := 0
	for _, n := range t.count {
		total += n
	}
	return total
}

// Share returns which part of all results had the outcome, and 0 when there
// were none.
func (t *Tally) Share(o Outcome) float64 {
	return float64(t.count[o]) / float64(max(1, t.Total()))
}

// Quantile returns the latency that the share q of the results with the
// outcome did not exceed, and 0 when there were none.
func (t *Tally) Quantile(o Outcome, q float64) time.Duration { return quantile(t.took[o], q) }

// Lag returns how far the share q of the requests was at most sent behind its
// schedule.
func (t *Tally) Lag(q float64) time.Duration { return quantile(t.lag, q) }

func record(h **hdrhistogram.Histogram, d time.Duration) {
	if *h == nil {
		*h = hdrhistogram.New(1, int64(longest), 3)
	}
	_ = (*h).RecordValue(int64(min(max(d, 1), longest))) // within the bounds just made
}

func quantile(h *hdrhistogram.Histogram, q float64) time.Duration {
	if h == nil {
		return 0
	}
	return time.Duration(h.ValueAtQuantile(q * 100))
}
