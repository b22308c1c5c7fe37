// Package figure writes numbers for people: rounded half up, as everybody does
// it on paper. The fmt verbs round the binary value half to even, so 5.625
// becomes 5.62 in one row and 1.875 becomes 1.88 in the next.
package figure

import (
	"math"
	"strconv"
)

// Fixed returns x with that many decimals.
func Fixed(x float64, decimals int) string {
	return strconv.FormatFloat(round(x, decimals), 'f', decimals, 64)
}

// Short returns x with at most that many decimals, none of them a trailing 0.
func Short(x float64, decimals int) string {
	return strconv.FormatFloat(round(x, decimals), 'f', -1, 64)
}

// round rounds half away from zero. What is too large for the scale has no
// decimals to lose.
func round(x float64, decimals int) float64 {
	scale := math.Pow(10, float64(decimals))
	if math.Abs(x) > 1<<53/scale {
		return x
	}
	return math.Round(x*scale) / scale
}
