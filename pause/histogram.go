package pause

import (
	"math"
	"runtime/metrics"
	"slices"
	"time"

	"github.com/kalan-go/kalan/policy/span"
)

// A Summary describes a distribution of the runtime's. The durations are the
// upper ends of its buckets, so they are never too short.
type Summary struct {
	Count         uint64
	P50, P99, Max time.Duration
}

// summarize describes what was counted since the counts were before. The
// runtime's counts only grow; before may be nil.
func summarize(h *metrics.Float64Histogram, before []uint64) Summary {
	if h == nil {
		return Summary{}
	}
	grown := slices.Clone(h.Counts)
	var s Summary
	for i := range grown {
		if i < len(before) {
			grown[i] -= min(before[i], grown[i])
		}
		s.Count += grown[i]
	}
	s.P50, s.P99 = quantile(h.Buckets, grown, s.Count, 0.5), quantile(h.Buckets, grown, s.Count, 0.99)
	s.Max = quantile(h.Buckets, grown, s.Count, 1)
	return s
}

// quantile returns the upper end of the bucket in which the share q of total
// lies, 0 when nothing was counted.
func quantile(buckets []float64, counts []uint64, total uint64, q float64) time.Duration {
	rank := max(uint64(math.Ceil(q*float64(total))), 1)
	var seen uint64
	for i, n := range counts {
		if seen += n; n > 0 && seen >= rank {
			return upper(buckets, i)
		}
	}
	return 0
}

// upper returns the end of bucket i: its beginning, where it has no end.
func upper(buckets []float64, i int) time.Duration {
	if i+1 < len(buckets) && !math.IsInf(buckets[i+1], 1) {
		return span.Scale(time.Second, buckets[i+1])
	}
	if i < len(buckets) && !math.IsInf(buckets[i], 0) {
		return span.Scale(time.Second, buckets[i])
	}
	return 0
}
