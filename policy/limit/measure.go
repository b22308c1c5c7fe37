package limit

import (
	"math"
	"time"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/span"
)

const (
	// recent is how many answers fill one of the two histograms that together
	// are what was seen lately.
	recent = 500
	// sure is the number of answers from which on a p99 means something.
	sure = 100
	// most is how many slots count for the smoothing.
	most = 64
	// trace is a deviation, in nanoseconds, that is lost in any mean. Without it
	// that of equal times shrinks to numbers that processors reckon with slowly:
	// 15 ns a call.
	trace = 1e-30
)

// A measure is what was seen lately of how long calls take.
type measure struct {
	mean, deviation float64 // smoothed, in nanoseconds
	n               float64 // in flight when the calls began, smoothed
	quiet           float64 // mean of those that are calm
	gain            float64 // of the smoothing
	slots           int     // that gain is made for
	answers         uint64
	last            policy.Instant // when a call ended, however

	peak, crest int32     // most in flight during now, and before
	now, before histogram // of the last answers, in two halves
	calm        histogram // of those that began with half as many in flight as usual
}

// add tells of a call that was answered, the n-th in flight when it began.
func (m *measure) add(took time.Duration, n int32, slots int) {
	x, cell := float64(took), cellOf(took)
	if m.answers++; m.answers == 1 {
		m.mean, m.deviation, m.n = x, x/4, float64(n)
	} else {
		m.smooth(x, float64(n), slots)
	}
	m.now.add(cell)
	m.peak = max(m.peak, n)
	if m.now.count >= recent {
		m.turn()
	}
	if 2*float64(n) <= m.n || n == 1 {
		m.relax(x, cell)
	}
}

// turn begins a new half.
func (m *measure) turn() {
	m.before, m.crest = m.now, m.peak
	m.now, m.peak = histogram{}, 0
}

// relax takes in a call that began in calm times.
func (m *measure) relax(x float64, cell int) {
	if m.quiet == 0 {
		m.quiet = x
	}
	m.quiet += (x - m.quiet) / 16
	m.calm.add(cell)
	if m.calm.count >= 2*recent {
		m.calm.halve()
	}
}

func (m *measure) smooth(x, n float64, slots int) {
	if slots != m.slots { // a division costs as much as all the rest
		m.tune(slots)
	}
	off := x - m.mean
	m.mean += off * m.gain
	m.n += (n - m.n) * m.gain
	m.deviation += (math.Abs(off) + trace - m.deviation) * m.gain
}

// tune makes the smoothing remember about one round.
func (m *measure) tune(slots int) {
	m.slots, m.gain = slots, 1/float64(min(max(slots, 8), most))
}

// renew forgets the smoothed values, which were wrong.
func (m *measure) renew() { m.answers, m.quiet = 0, 0 }

// expected is the mean and one deviation, for the n-th call in flight: in
// proportion to the number, but no less than in calm times.
func (m *measure) expected(n int) time.Duration {
	part := min(1, float64(n)/max(1, m.n))
	return duration(max(m.mean*part, min(m.mean, m.quiet)) + m.deviation*part)
}

// stale reports whether nothing was learned for so long that somebody should
// try, whatever is expected.
func (m *measure) stale(now policy.Instant) bool { return now.Sub(m.last) >= time.Second }

// quantile returns a quantile of the last answers.
func (m *measure) quantile(q float64) time.Duration { return quantile(q, &m.now, &m.before) }

// tooHigh reports whether the p99 has doubled against that of calm times
// although the limit was not reached (F17): then it is not the limit that
// protects the dependency.
func (m *measure) tooHigh(slots int) bool {
	return m.calm.count >= sure && m.now.count+m.before.count >= sure &&
		int(max(m.peak, m.crest)) < slots &&
		m.quantile(.99) >= span.Mul(quantile(.99, &m.calm, &histogram{}), 2)
}
