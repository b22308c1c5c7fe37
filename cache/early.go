package cache

import (
	"math"
	"time"
)

// certain is how many times compute x beta a value may still live and be
// refreshed early: the smallest u that a caller draws is 2^-53, and
// -ln(2^-53) is 36.7. A value that lives longer needs no draw.
const certain = 37

// Early decides whether a value that is still valid is computed anew now:
//
//	remaining < -compute x beta x ln(u)
//
// remaining is how long the value is still valid, compute how long it took to
// compute, and u is drawn from (0, 1]. The logarithm is negative, so the sign
// in front of it is the algorithm (O-28): each reader refreshes with the
// probability exp(-remaining / (compute x beta)), so that slow computations
// begin earlier and one reader of many begins in time. A beta above 1 begins
// earlier. Nothing remaining is always refreshed.
//
// (Vattani, Chierichetti, Lowenstein: "Optimal Probabilistic Cache Stampede
// Prevention", VLDB 2015.)
func Early(remaining, compute time.Duration, beta, u float64) bool {
	return remaining <= 0 || float64(remaining) < -float64(compute)*beta*math.Log(u)
}

// undecided reports whether Early depends on the draw at all.
func undecided(remaining, compute time.Duration, beta float64) bool {
	return float64(remaining) < float64(compute)*beta*certain
}
