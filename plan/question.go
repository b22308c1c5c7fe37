package plan

import (
	"fmt"
	"time"

	"github.com/kalan-go/kalan/policy"
)

// The bounds of a question. A synchronous chain beyond them is a slip of the
// keyboard, and a table beyond them is not read.
const (
	longest   = 24 * time.Hour
	mostCount = 1000
	mostRows  = 1000
	mostP99   = 100
	mostLayer = 20
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
	var ps problems
	ps.duration("budget", q.Budget, "200ms")
	ps.duration("median", q.Median, "8ms")
	if q.Share < 0 || q.Share >= q.Budget && q.Budget > 0 {
		ps.add("share", "%v leaves nothing of the budget of %v for the chain; write less than the budget", q.Share, q.Budget)
	}
	for _, d := range q.P99 {
		ps.duration("p99", d, "120ms")
	}
	if len(q.P99) > mostP99 {
		ps.add("p99", "%d callees; write at most %d", len(q.P99), mostP99)
	}
	ps.list("depth", q.Depths)
	ps.list("attempts", q.Attempts)
	ps.counts("layers", q.Layers)
	if len(q.Layers) > mostLayer {
		ps.add("layers", "%d layers; write at most %d", len(q.Layers), mostLayer)
	}
	if rows := len(q.Depths) * len(q.Attempts); rows > mostRows {
		ps.add("depth", "%d depths x %d attempts make a table of %d rows; write fewer, at most %d rows are shown",
			len(q.Depths), len(q.Attempts), rows, mostRows)
	}
	return policy.Problems(ps)
}

type problems policy.Problems

func (ps *problems) add(path, format string, args ...any) {
	*ps = append(*ps, policy.Problem{Path: path, Text: fmt.Sprintf(format, args...)})
}

func (ps *problems) duration(path string, d time.Duration, example string) {
	switch {
	case d <= 0:
		ps.add(path, "%v is no time at all; write a duration such as %s", d, example)
	case d > longest:
		ps.add(path, "%v is longer than a call lasts; write at most %v", d, longest)
	}
}

// list checks counts that make rows: there must be some, each once.
func (ps *problems) list(path string, counts []int) {
	if len(counts) == 0 {
		ps.add(path, "is missing; write numbers such as 1,3 or a range such as 1-4")
	}
	ps.counts(path, counts)
	seen := make(map[int]bool, len(counts))
	for _, n := range counts {
		if seen[n] {
			ps.add(path, "%d stands twice; write it once", n)
			return
		}
		seen[n] = true
	}
}

func (ps *problems) counts(path string, counts []int) {
	for _, n := range counts {
		if n < 1 || n > mostCount {
			ps.add(path, "%d is not possible; write numbers from 1 to %d", n, mostCount)
			return
		}
	}
}
