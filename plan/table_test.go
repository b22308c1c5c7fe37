package plan_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/kalan-go/kalan/internal/figure"
	"github.com/kalan-go/kalan/plan"
	"github.com/kalan-go/kalan/policy/deadline"
	"pgregory.net/rapid"
)

const ms = time.Millisecond

// lesson is the question of the lesson: 200 ms, of which the gateway needs 20.
func lesson() plan.Question {
	return plan.Question{Budget: 200 * ms, Share: 20 * ms, Median: 8 * ms, Depths: []int{1, 2, 3, 4}, Attempts: []int{1, 3}}
}

// B1, every figure of the table.
func TestRows(t *testing.T) {
	want := []struct {
		depth, attempts                  int
		worst, budgets, timeout, medians string
	}{
		{1, 1, "220", "1.1", "180.0", "22.50"},
		{1, 3, "620", "3.1", "60.0", "7.50"},
		{2, 1, "420", "2.1", "90.0", "11.25"},
		{2, 3, "1220", "6.1", "30.0", "3.75"},
		{3, 1, "620", "3.1", "60.0", "7.50"},
		{3, 3, "1820", "9.1", "20.0", "2.50"},
		{4, 1, "820", "4.1", "45.0", "5.63"},
		{4, 3, "2420", "12.1", "15.0", "1.88"},
	}
	rows := plan.New(lesson()).Rows
	if len(rows) != len(want) {
		t.Fatalf("%d rows, want %d", len(rows), len(want))
	}
	for i, w := range want {
		r := rows[i]
		if r.Depth != w.depth || r.Attempts != w.attempts || figure.Short(r.WorstMs, 3) != w.worst || figure.Fixed(r.WorstRatio, 1) != w.budgets ||
			figure.Fixed(r.TimeoutMs, 1) != w.timeout || figure.Fixed(r.MedianRatio, 2) != w.medians {
			t.Errorf("row %d is %+v, want %+v", i, r, w)
		}
	}
}

// B2.
func TestDeepest(t *testing.T) {
	for _, d := range plan.New(lesson()).Deepest {
		if want := map[int]int{1: 22, 3: 7}[d.Attempts]; d.Depth != want {
			t.Errorf("%d attempts: %d steps deep, want %d", d.Attempts, d.Depth, want)
		}
	}
}

// B3: 30.0 becomes 26.7 at depth 2 with 3 attempts.
func TestSensitivity(t *testing.T) {
	table := plan.New(lesson())
	if len(table.Sensitivity) != len(table.Rows) {
		t.Fatalf("%d rows, want one for each of %d", len(table.Sensitivity), len(table.Rows))
	}
	s := table.Sensitivity[3]
	if s.Depth != 2 || s.Attempts != 3 || s.ShareMs != 40 || figure.Fixed(s.TimeoutMs, 1) != "26.7" || s.TimeoutMs != 160.0/6 {
		t.Errorf("%+v, want 26.7 ms (160/6) at depth 2, 3 attempts, share 40", s)
	}
}

// B11: of the lesson's chains only the deepest with three attempts comes too
// near the median.
func TestWarnsOfTimeoutsNearTheMedian(t *testing.T) {
	ws := plan.New(lesson()).Warnings
	if len(ws) != 1 || !strings.Contains(ws[0], "depth 4 with 3 attempts") || !strings.Contains(ws[0], "1.88") {
		t.Errorf("warnings %q, want one, of depth 4 with 3 attempts", ws)
	}
	q := lesson()
	q.Share = 120 * ms
	if ws := plan.New(q).Warnings; !strings.Contains(strings.Join(ws, "\n"), "twice 120ms would leave nothing") {
		t.Errorf("warnings %q, want one of the share", ws)
	}
	for _, s := range plan.New(q).Sensitivity {
		if s.TimeoutMs != 0 {
			t.Errorf("%+v: twice the share leaves nothing, and never less", s)
		}
	}
}

// F9: p99 120 -> 180 -> 200, 500 -> 750 -> 800.
func TestTimeoutFromPercentile(t *testing.T) {
	for p99, want := range map[time.Duration]time.Duration{
		120 * ms: 200 * ms, 500 * ms: 800 * ms, 200 * ms: 300 * ms, 2 * ms: 3 * ms, 134 * ms: 300 * ms,
		600 * ms: 900 * ms, 601 * ms: time.Second, 667 * ms: 2 * time.Second, 666 * ms: time.Second, 1: 2, 6: 9, 0: 0, -5: 0,
	} {
		if got := plan.FromP99(p99); got != want {
			t.Errorf("p99 %v: %v, want %v", p99, got, want)
		}
	}
}

// F9: the sum of the callee budgets stays below what the caller waits.
func TestWarnsWhenTheCallerLeavesFirst(t *testing.T) {
	q := lesson()
	q.P99 = []time.Duration{120 * ms, 500 * ms}
	for budget, warned := range map[time.Duration]bool{200 * ms: true, time.Second: true, 1020 * ms: true, 1021 * ms: false} {
		q.Budget = budget
		ws := strings.Join(plan.New(q).Warnings, "\n")
		if strings.Contains(ws, "need 1s together") != warned {
			t.Errorf("budget %v: %q, want a warning: %v", budget, ws, warned)
		}
	}
	if got := plan.New(q).Timeouts; len(got) != 2 || got[0] != (plan.Timeout{P99Ms: 120, TimeoutMs: 200}) || got[1] != (plan.Timeout{P99Ms: 500, TimeoutMs: 800}) {
		t.Errorf("timeouts %+v", got)
	}
}

// O-14 and F20.
func TestLayersMultiply(t *testing.T) {
	for _, c := range []struct {
		layers []int
		want   float64
		text   string
	}{
		{[]int{4, 3}, 12, "4 x 3 attempts multiply to 12.0x"},
		{[]int{3, 3, 3, 3}, 81, "multiply to 81.0x"},
		{[]int{3, 3, 3}, 27, "multiply to 27.0x"},
		{[]int{3, 1, 1}, 3, ""},
		{[]int{2}, 2, ""},
		{nil, 1, ""},
	} {
		if got := plan.Multiply(c.layers...); got != c.want {
			t.Errorf("%v multiply to %v, want %v", c.layers, got, c.want)
		}
		q := lesson()
		q.Depths, q.Layers = []int{1}, c.layers
		ws := strings.Join(plan.New(q).Warnings, "\n")
		if c.text == "" && ws != "" || !strings.Contains(ws, c.text) {
			t.Errorf("%v: warnings %q, want %q", c.layers, ws, c.text)
		}
	}
}

// B10, both figures of the lesson and both ways to be wrong.
func TestSizing(t *testing.T) {
	for _, c := range []struct {
		s    plan.Sizing
		want string
	}{
		{plan.Sizing{.3, "normal", true, 1.1375, 1.1375, false}, "normal: the retry budget of 0.30 is not binding (multiplier 1.14 < 1.30), as it should be"},
		{plan.Sizing{.3, "slowdown", false, 2, .96875, true}, "slowdown: the retry budget of 0.30 is binding (multiplier 2.00 -> 0.97), as it should be"},
		{plan.Sizing{.1, "normal", true, 1.14, 1.08, true}, "too small"},
		{plan.Sizing{3, "slowdown", false, 2, 2, false}, "too large"},
	} {
		if got := c.s.String(); !strings.Contains(got, c.want) {
			t.Errorf("%+v says %q, want %q", c.s, got, c.want)
		}
	}
}

// Whatever is asked: the divided chain keeps the budget, and one step more than
// the deepest would not have a median for each attempt.
func TestDividedChainsKeepTheBudget(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		budget := time.Duration(rapid.Int64Range(2, int64(24*time.Hour)).Draw(t, "budget"))
		q := plan.Question{
			Budget:   budget,
			Share:    time.Duration(rapid.Int64Range(0, int64(budget)-1).Draw(t, "share")),
			Median:   time.Duration(rapid.Int64Range(1, int64(budget)).Draw(t, "median")),
			Depths:   []int{rapid.IntRange(1, 1000).Draw(t, "depth")},
			Attempts: []int{rapid.IntRange(1, 1000).Draw(t, "attempts")},
		}
		if ps := q.Validate(); len(ps) > 0 {
			t.Fatalf("refused: %v", ps)
		}
		table := plan.New(q)
		row, deep := table.Rows[0], table.Deepest[0].Depth
		left := float64(budget-q.Share) / float64(ms)
		used := row.TimeoutMs * float64(row.Depth) * float64(row.Attempts)
		if math.Abs(used-left) > 1e-9*left {
			t.Fatalf("attempts use %v ms of %v", used, left)
		}
		exact := deadline.Divide(budget, q.Share, row.Depth, row.Attempts)
		if diff := row.TimeoutMs - float64(exact)/float64(ms); diff < -1e-6 || diff > 2e-6 {
			t.Fatalf("the table says %v ms, the policy %v", row.TimeoutMs, exact)
		}
		if median := deadline.Divide(budget, q.Share, deep+1, row.Attempts); median >= q.Median {
			t.Fatalf("a chain of %d steps would have timeouts of %v, and the deepest is said to be %d", deep+1, median, deep)
		}
		if deep > 0 && deadline.Divide(budget, q.Share, deep, row.Attempts) < q.Median {
			t.Fatalf("the deepest chain of %d steps has timeouts below the median", deep)
		}
	})
}

func TestVerdict(t *testing.T) {
	normal, slow := plan.Sizing{Ratio: .3, Usual: true}, plan.Sizing{Ratio: .3, Bound: true}
	small, large := plan.Sizing{Ratio: .1, Usual: true, Bound: true}, plan.Sizing{Ratio: 3}
	for _, c := range []struct {
		seen []plan.Sizing
		want bool
	}{
		{[]plan.Sizing{normal, slow}, true},
		{[]plan.Sizing{normal, slow, slow}, true},
		{[]plan.Sizing{normal}, false},
		{[]plan.Sizing{slow}, false},
		{[]plan.Sizing{small, slow}, false},
		{[]plan.Sizing{normal, large}, false},
		{nil, false},
	} {
		if got := plan.Verdict(c.seen); strings.Contains(got, "0.30 is sized right") != c.want {
			t.Errorf("%+v: %q, want it sized right: %v", c.seen, got, c.want)
		}
	}
}
