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
	return roundUp(span.Add(p99, p99/2+p99%2), 10)
}

// unit is the place of d's last figure, where all figures together are below
// that number.
func unit(d time.Duration, below time.Duration) time.Duration {
	unit := time.Duration(1)
	for d/unit >= below {
		unit = span.Mul(unit, 10)
	}
	return unit
}

// roundUp rounds up to figures below that number: 10 for one of them.
func roundUp(d, below time.Duration) time.Duration {
	unit := unit(d, below)
	figures := d / unit
	if d%unit != 0 {
		figures++
	}
	return span.Mul(unit, int64(figures))
}

// roundDown rounds down to two figures.
func roundDown(d time.Duration) time.Duration {
	return d - d%unit(d, 100)
}
