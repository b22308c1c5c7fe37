package plan

import (
	"time"

	"github.com/kalan-go/kalan/policy/span"
)

// FromP99 returns the timeout of a callee whose 99th percentile was measured:
// half as much again, rounded up to one significant figure (F9). Anything
// finer would pretend that the percentile is known so well. No time at all
// stays none.
func FromP99(p99 time.Duration) time.Duration {
	p99 = max(p99, 0)
	return roundUp(span.Add(p99, p99/2+p99%2))
}

// roundUp rounds up to one significant figure.
func roundUp(d time.Duration) time.Duration {
	unit := time.Duration(1)
	for d/unit >= 10 {
		unit = span.Mul(unit, 10)
	}
	first := d / unit
	if d%unit != 0 {
		first++
	}
	return span.Mul(unit, int64(first))
}
