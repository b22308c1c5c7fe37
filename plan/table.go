package plan

import (
	"fmt"
	"time"

	"github.com/kalan-go/kalan/internal/figure"
	"github.com/kalan-go/kalan/policy/deadline"
	"github.com/kalan-go/kalan/policy/span"
)

// near is below how many medians a timeout cuts ordinary calls (B11).
const near = 2

// A Table answers a Question. Its figures are not rounded.
type Table struct {
	// Rows has a row for each depth and number of attempts.
	Rows []Row `json:"rows"`
	// Deepest has, for each number of attempts, the deepest chain whose
	// timeout is not below the median; 0: not even one step.
	Deepest []Deepest `json:"deepest"`
	// Sensitivity repeats every row's timeout with the share doubled.
	Sensitivity []Sensitivity `json:"sensitivity"`
	// Timeouts has one for each measured percentile.
	Timeouts []Timeout `json:"timeouts,omitempty"`
	// Warnings says what will go wrong with these figures.
	Warnings []string `json:"warnings,omitempty"`
}

// A Row is one chain.
type Row struct {
	Depth    int `json:"depth"`
	Attempts int `json:"attempts"`
	// WorstMs is the end-to-end time in the worst case when nobody divides the
	// budget, and WorstRatio that time in budgets.
	WorstMs    float64 `json:"worst_ms"`
	WorstRatio float64 `json:"worst_ratio"`
	// TimeoutMs is what an attempt may take so that the chain keeps the budget,
	// and MedianRatio that time in medians of a step.
	TimeoutMs   float64 `json:"timeout_ms"`
	MedianRatio float64 `json:"median_ratio"`
}

// Deepest is how deep a chain can be with that many attempts a step.
type Deepest struct {
	Attempts int `json:"attempts"`
	Depth    int `json:"depth"`
}

// Sensitivity is a row's timeout under another share.
type Sensitivity struct {
	Depth     int     `json:"depth"`
	Attempts  int     `json:"attempts"`
	ShareMs   float64 `json:"share_ms"`
	TimeoutMs float64 `json:"timeout_ms"`
}

// Timeout is what follows from a measured percentile.
type Timeout struct {
	P99Ms     float64 `json:"p99_ms"`
	TimeoutMs float64 `json:"timeout_ms"`
}

// New answers the question, which must be valid.
func New(q Question) Table {
	var t Table
	share := span.Mul(q.Share, 2)
	for _, depth := range q.Depths {
		for _, attempts := range q.Attempts {
			t.Rows = append(t.Rows, q.row(depth, attempts))
			t.Sensitivity = append(t.Sensitivity, Sensitivity{depth, attempts, ms(share), q.timeout(share, depth, attempts)})
		}
	}
	for _, attempts := range q.Attempts {
		t.Deepest = append(t.Deepest, Deepest{attempts, q.deepest(attempts)})
	}
	for _, p99 := range q.P99 {
		t.Timeouts = append(t.Timeouts, Timeout{ms(p99), ms(FromP99(p99))})
	}
	t.Warnings = q.warnings(t)
	return t
}

func (q Question) row(depth, attempts int) Row {
	worst := float64(depth)*float64(attempts)*ms(q.Budget) + ms(q.Share)
	timeout := q.timeout(q.Share, depth, attempts)
	return Row{depth, attempts, worst, worst / ms(q.Budget), timeout, timeout / ms(q.Median)}
}

// timeout is deadline.Divide without its rounding to nanoseconds.
func (q Question) timeout(share time.Duration, depth, attempts int) float64 {
	return ms(q.remaining(share)) / (float64(depth) * float64(attempts))
}

func (q Question) remaining(share time.Duration) time.Duration {
	return deadline.Divide(q.Budget, share, 1, 1)
}

// deepest is B2 in whole nanoseconds: no rounding decides between two depths.
func (q Question) deepest(attempts int) int {
	return int(q.remaining(q.Share) / max(span.Mul(q.Median, int64(attempts)), 1))
}

func (q Question) warnings(t Table) []string {
	var ws []string
	for _, r := range t.Rows {
		if r.MedianRatio < near {
			ws = append(ws, fmt.Sprintf("depth %d with %d attempts: a timeout of %s ms is only %s times the median of %v; ordinary calls will time out. "+
				"Make the chain shorter, allow fewer attempts or a larger budget.",
				r.Depth, r.Attempts, figure.Fixed(r.TimeoutMs, 1), figure.Fixed(r.MedianRatio, 2), q.Median))
		}
	}
	if span.Mul(q.Share, 2) >= q.Budget {
		ws = append(ws, fmt.Sprintf("a share of twice %v would leave nothing of the budget of %v; measure the share before relying on this table.",
			q.Share, q.Budget))
	}
	ws = append(ws, q.measured()...)
	return append(ws, layered(q.Layers)...)
}

// measured checks that the timeouts that follow from measurement fit, one
// after the other, into what the caller waits (F9).
func (q Question) measured() []string {
	sum := time.Duration(0)
	for _, p99 := range q.P99 {
		sum = span.Add(sum, FromP99(p99))
	}
	if left := q.remaining(q.Share); sum >= left && len(q.P99) > 0 {
		return []string{fmt.Sprintf("the measured callees need %v together, and the caller leaves %v for them: it will give up before their timeouts fire. "+
			"Make callees faster, call them at the same time, or promise more.", sum, left)}
	}
	return nil
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
