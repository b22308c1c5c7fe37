package walk_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kalan-go/kalan/policy/budget"
	"github.com/kalan-go/kalan/policy/retry"
	"github.com/kalan-go/kalan/sim/walk"
)

func TestEveryProblemAtOnce(t *testing.T) {
	s := walk.Scenario{
		Share:   -1,
		Regimes: []walk.Regime{{Cycle: []time.Duration{-1, 25 * time.Hour}}, {Name: "empty"}},
		Configurations: []walk.Configuration{{
			Timeout: -1, Retry: retry.Config{Attempts: -1}, Budget: &budget.Config{Ratio: -1},
		}},
	}
	var paths []string
	for _, p := range s.Validate() {
		paths = append(paths, p.Path)
	}
	want := []string{
		"kind", "name", "promise", "share", "requests", "rate", "chain.depth", "chain.branches",
		"regimes[0].name", "regimes[0].cycle[0]", "regimes[0].cycle[1]", "regimes[1].cycle",
		"configurations[0].name", "configurations[0].timeout", "configurations[0].retry.attempts", "configurations[0].budget.ratio",
	}
	if !slices.Equal(paths, want) {
		t.Errorf("problems at\n%v, want\n%v", paths, want)
	}
	if ps := lesson().Validate(); len(ps) > 0 {
		t.Errorf("the lesson is refused: %v", ps)
	}
}

// What would not end, or overrun the clock, is refused with the figure.
func TestBounds(t *testing.T) {
	for want, spoil := range map[string]func(*walk.Scenario){
		"attempts and at most":      func(s *walk.Scenario) { s.Requests = 1_000_000 },
		"from 1 to 1000000":         func(s *walk.Scenario) { s.Requests = 1_000_001 },
		"from 1 to 1000":            func(s *walk.Scenario) { s.Chain.Depth = 1001 },
		"more than a hundred years": func(s *walk.Scenario) { s.Requests, s.Regimes[0].Cycle[0] = 100_000, 24*time.Hour },
		"has 10001 entries":         func(s *walk.Scenario) { s.Regimes[0].Cycle = make([]time.Duration, 10_001) },
		"at least one entry":        func(s *walk.Scenario) { s.Regimes = nil },
		"longer than a call lasts":  func(s *walk.Scenario) { s.Configurations[0].Retry.Cap = 48 * time.Hour },
	} {
		s := lesson()
		spoil(&s)
		if ps := s.Validate(); !strings.Contains(ps.Error(), want) || strings.Contains(ps.Error(), "%!") {
			t.Errorf("%q, want a problem that says %q", ps.Error(), want)
		}
	}
}
