package plan_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kalan-go/kalan/plan"
)

func TestEveryProblemAtOnce(t *testing.T) {
	q := plan.Question{
		Budget: 0, Share: -1, Median: 25 * time.Hour,
		Depths: []int{0}, Attempts: nil, P99: []time.Duration{0}, Layers: []int{-1},
	}
	var paths []string
	for _, p := range q.Validate() {
		paths = append(paths, p.Path)
	}
	if want := []string{"budget", "median", "share", "p99", "depth", "attempts", "layers"}; !slices.Equal(paths, want) {
		t.Errorf("problems at %v, want %v", paths, want)
	}
}

func TestRefused(t *testing.T) {
	many := make([]int, 100)
	for i := range many {
		many[i] = i + 1
	}
	for text, spoil := range map[string]func(*plan.Question){
		"leaves nothing":           func(q *plan.Question) { q.Share = q.Budget },
		"longer than a call lasts": func(q *plan.Question) { q.Budget = 25 * time.Hour },
		"number from 1":            func(q *plan.Question) { q.Attempts = []int{1001} },
		"stands twice":             func(q *plan.Question) { q.Depths = []int{2, 2} },
		"table of 10000 rows":      func(q *plan.Question) { q.Depths, q.Attempts = many, many },
		"101 values":               func(q *plan.Question) { q.P99 = slices.Repeat([]time.Duration{ms}, 101) },
		"21 values":                func(q *plan.Question) { q.Layers = slices.Repeat([]int{3}, 21) },
	} {
		q := lesson()
		spoil(&q)
		ps := q.Validate()
		if len(ps) != 1 || !strings.Contains(ps.Error(), text) {
			t.Errorf("%q, want one problem that says %q", ps.Error(), text)
		}
	}
	if ps := lesson().Validate(); len(ps) > 0 {
		t.Errorf("the lesson is refused: %v", ps)
	}
}

func TestParseCounts(t *testing.T) {
	for text, want := range map[string][]int{
		"1": {1}, "1,3": {1, 3}, "1-4": {1, 2, 3, 4}, "3, 1-2": {3, 1, 2}, "3,3": {3, 3}, "1000": {1000},
	} {
		if got, err := plan.ParseCounts(text); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v, %v; want %v", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"": "not a count", "0": "not a count", "-1": "not a count", "+1": "not a count", "1.5": "not a count", "1-": "not a count", "4-1": "write 1-4",
		"1-99999999999999999999": "not a count", "1001": "not a count", "a": "not a count", "1,,2": "not a count", "1-2-3": "not a count",
		"1-1000,1": "more than 1000", strings.Repeat("1,", 100000) + "1": "more than 1000", strings.Repeat("9", 100000): "not a count",
	} {
		got, err := plan.ParseCounts(text)
		if err == nil || !strings.Contains(err.Error(), want) || len(err.Error()) > 200 {
			t.Errorf("%.60q: %v, %.300v; want an error that says %q", text, got, err, want)
		}
	}
}

func FuzzParseCounts(f *testing.F) {
	for _, seed := range []string{"1", "1-4", "1,3", "4-1", "", "1-1000,1-1000", "-"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		counts, err := plan.ParseCounts(text)
		if err != nil {
			return
		}
		if len(counts) == 0 || len(counts) > 1000 || slices.Min(counts) < 1 || slices.Max(counts) > 1000 {
			t.Errorf("%.60q: %d counts from %d to %d", text, len(counts), slices.Min(counts), slices.Max(counts))
		}
	})
}
