package record

import (
	"fmt"
	"math"
)

// An Interval is a mean over replications, and how far from it the true mean
// may lie, with 95 % confidence.
type Interval struct {
	Mean float64
	// Half is half the width of the interval; 0 with fewer than two
	// replications, which say nothing about it.
	Half float64
	// N is the number of replications.
	N int
}

// Over returns the interval of independent samples.
func Over(samples []float64) Interval {
	n := len(samples)
	if n == 0 {
		return Interval{}
	}
	mean := 0.0
	for i, x := range samples {
		mean += (x - mean) / float64(i+1)
	}
	if n == 1 {
		return Interval{Mean: mean, N: n}
	}
	squares := 0.0
	for _, x := range samples {
		squares += (x - mean) * (x - mean)
	}
	deviation := math.Sqrt(squares / float64(n-1))
	return Interval{Mean: mean, Half: student(n-1) * deviation / math.Sqrt(float64(n)), N: n}
}

// Covers reports whether x lies in the interval.
func (i Interval) Covers(x float64) bool { return math.Abs(x-i.Mean) <= i.Half }

// String writes the mean and the half-width.
func (i Interval) String() string { return fmt.Sprintf("%.4g ±%.2g", i.Mean, i.Half) }

// student returns the 97.5th percentile of Student's t.
func student(freedom int) float64 {
	table := [...]float64{12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281}
	if freedom <= len(table) {
		return table[freedom-1]
	}
	// Cornish and Fisher's expansion about the normal percentile; wrong by less
	// than 0.0002 from eleven degrees of freedom on.
	const z = 1.959963985
	f := float64(freedom)
	return z + (z*z*z+z)/(4*f) + (5*z*z*z*z*z+16*z*z*z+3*z)/(96*f*f) +
		(3*z*z*z*z*z*z*z+19*z*z*z*z*z+17*z*z*z-15*z)/(384*f*f*f)
}
