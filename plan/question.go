package plan

import (
	"time"

	"github.com/kalan-go/kalan/internal/field"
	"github.com/kalan-go/kalan/policy"
)

// The bounds of a question. A synchronous chain beyond them is a slip of the
// keyboard, and a table beyond them is not read.
const (
	longest    = 24 * time.Hour
	mostCount  = 1000
	mostRows   = 1000
	mostP99    = 100
	mostLayers = 20
)

// A Question is what a table is made for.
type Question struct {
	// Budget is what the caller waits, end to end.
	Budget time.Duration
	// Share is what the gateway itself needs of it.
	Share time.Duration
	// Median is what one step of the chain usually takes.
	Median time.Duration
	// Depths are the numbers of steps that follow one another.
	Depths []int
	// Attempts are the numbers of times each step may be called.
	Attempts []int
	// P99 are measured 99th percentiles of callees that are called one after
	// the other; none: nothing was measured.
	P99 []time.Duration
	// Layers are the attempts of layers that retry one above the other; none:
	// only one layer retries.
	Layers []int
}

// Validate returns everything that is wrong with the question; paths are the
// names of the fields as the command's flags spell them.
func (q Question) Validate() policy.Problems {
	var c field.Check
	checkDuration(&c, "budget", q.Budget, "200ms")
	checkDuration(&c, "median", q.Median, "8ms")
	if q.Share < 0 || q.Share >= q.Budget && q.Budget > 0 {
		c.Refuse("share", "%v leaves nothing of the budget of %v for the chain; write less than the budget", q.Share, q.Budget)
	}
	for _, d := range q.P99 {
		checkDuration(&c, "p99", d, "120ms")
	}
	checkLength(&c, "p99", len(q.P99), mostP99)
	checkRows(&c, "depth", q.Depths)
	checkRows(&c, "attempts", q.Attempts)
	checkCounts(&c, "layers", q.Layers)
	checkLength(&c, "layers", len(q.Layers), mostLayers)
	if rows := len(q.Depths) * len(q.Attempts); rows > mostRows {
		c.Refuse("depth", "%d depths x %d attempts make a table of %d rows; write fewer, at most %d rows are shown",
			len(q.Depths), len(q.Attempts), rows, mostRows)
	}
	return c.Problems()
}

func checkDuration(c *field.Check, path string, d time.Duration, example string) {
	switch {
	case d <= 0:
		c.Refuse(path, "%v is no time at all; write a duration such as %s", d, example)
	case d > longest:
		c.Refuse(path, "%v is longer than a call lasts; write at most %v", d, longest)
	}
}

func checkLength(c *field.Check, path string, n, most int) {
	if n > most {
		c.Refuse(path, "the list has %d values; write at most %d", n, most)
	}
}

// checkRows checks counts that make rows: there must be some, each once.
func checkRows(c *field.Check, path string, counts []int) {
	if len(counts) == 0 {
		c.Refuse(path, "is missing; write numbers such as 1,3 or a range such as 1-4")
	}
	checkCounts(c, path, counts)
	seen := make(map[int]bool, len(counts))
	for _, n := range counts {
		if seen[n] {
			c.Refuse(path, "%d stands twice; write it once", n)
			return
		}
		seen[n] = true
	}
}

// checkCounts refuses the first count that is out of range: a list of a
// thousand wrong ones has one mistake in it.
func checkCounts(c *field.Check, path string, counts []int) {
	for _, n := range counts {
		if n < 1 || n > mostCount {
			c.Count(path, n, mostCount)
			return
		}
	}
}
