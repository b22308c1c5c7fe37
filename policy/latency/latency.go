// Package latency keeps what a stack needs to know of how long its dependency
// takes: a smoothed mean and deviation, to predict a service, and the median of
// the last answers, to tell a patient caller from a hasty one.
//
// Only answered attempts are told. An attempt that was cut off says how long
// somebody waited, not how long the dependency takes, and a table that learned
// from cuts would take the callers' deadlines for the dependency's speed.
//
// What a limit learns of its slots is another matter, and its own (package
// limit): there every time counts that a slot was held.
//
// The mean and the deviation are those of RFC 6298 section 2 (gains 1/8 and
// 1/4); the median is exact over the last 64 answers and is computed only when
// it is asked for.
package latency

import (
	"slices"
	"time"

	"github.com/kalan-go/kalan/policy/span"
)

const kept = 64

// Enough is the number of answers below which the median says nothing.
const Enough = 20

// A Record is a dependency's recent latency. The zero value knows nothing and is
// ready to use. It does no locking.
type Record struct {
	mean, deviation time.Duration
	answers         uint64
	last            [kept]time.Duration
}

// Add tells of an attempt that was answered after took.
func (r *Record) Add(took time.Duration) {
	took = max(took, 0)
	if r.answers == 0 {
		r.mean, r.deviation = took, took/2
	} else {
		off := took - r.mean
		r.deviation += (off.Abs() - r.deviation) / 4
		r.mean += off / 8
	}
	r.last[r.answers%kept] = took
	r.answers++
}

// Answers returns how many attempts were told.
func (r *Record) Answers() uint64 { return r.answers }

// Mean returns the smoothed mean; 0 before the first answer.
func (r *Record) Mean() time.Duration { return r.mean }

// Deviation returns the smoothed mean deviation.
func (r *Record) Deviation() time.Duration { return r.deviation }

// Expected returns the service time to plan with: the mean and one deviation.
// 0 before the first answer: unknown.
func (r *Record) Expected() time.Duration { return span.Add(r.mean, r.deviation) }

// Median returns the median of the last answers, and whether there are enough
// of them to say.
func (r *Record) Median() (time.Duration, bool) { return r.Quantile(.5) }

// Quantile returns the time that the share q of the last answers did not
// exceed, and whether there are enough of them to say. With 64 answers kept it
// is coarse above .95.
func (r *Record) Quantile(q float64) (time.Duration, bool) {
	n := int(min(r.answers, kept))
	if n == 0 {
		return 0, false
	}
	sorted := r.last
	slices.Sort(sorted[:n])
	at := min(max(q*float64(n), 0), float64(n-1))
	return sorted[max(int(at), 0)], n >= Enough // NaN is no index
}
