package report

import (
	"strconv"
	"strings"

	"github.com/kalan-go/kalan/sim"
)

// newHops says how many attempts each edge sends for a call. The first attempt
// is what was asked for; the rest is what the edge adds.
func newHops(r *sim.Result) barTable {
	t := barTable{
		Caption: "Attempts for each call, by edge", Columns: []string{"attempts per call", "calls", "failed", "attempts per request"},
		Key: []keyed{{"first", "first attempts"}, {"extra", "further attempts"}},
	}
	edges := func(a *sim.ArmResult) []sim.EdgeResult { return a.Edges }
	highest := 1.
	for i := range r.Arms {
		highest = max(highest, most(r.Arms[i].Edges, func(e *sim.EdgeResult) float64 { return e.Amplification }))
	}
	for _, name := range each(r, edges, (*sim.EdgeResult).Name) {
		t.group(r, named(strings.Replace(name, ">", " → ", 1), longestName), func(a *sim.ArmResult) (barRow, bool) {
			e := find(a.Edges, (*sim.EdgeResult).Name, name)
			if e == nil {
				return barRow{}, false
			}
			if e.Calls == 0 {
				return barRow{Cells: []string{"–", "0", "–", "–"}}, true
			}
			return barRow{
				Cells: []string{times(e.Amplification), count(e.Calls), percent(float64(e.Failed) / float64(e.Calls)), amount(e.Share)},
				Bar:   stacked(part("first", min(e.Amplification, 1)/highest), part("extra", max(e.Amplification-1, 0)/highest)),
			}, true
		})
	}
	return t
}

// newWaste says how much of each service's work was done for nobody.
func newWaste(r *sim.Result) barTable {
	t := barTable{
		Caption: "Work that was done for nobody", Columns: []string{"wasted", "busy workers", "longest queue"},
		Key: []keyed{{"useful", "for somebody"}, {"extra", "for nobody"}},
	}
	services := func(a *sim.ArmResult) []sim.ServiceResult { return a.Services }
	name := func(s *sim.ServiceResult) string { return s.Name }
	names := each(r, services, name)
	if len(names) > 1 {
		t.group(r, "all services", func(a *sim.ArmResult) (barRow, bool) {
			w := a.Wasted.Mean
			return barRow{Cells: []string{percent(w), "", ""}, Bar: stacked(part("useful", 1-w), part("extra", w))}, true
		})
	}
	for _, n := range names {
		t.group(r, named(n, longestName), func(a *sim.ArmResult) (barRow, bool) {
			s := find(a.Services, name, n)
			if s == nil {
				return barRow{}, false
			}
			if s.Work.Mean <= 0 {
				return barRow{Cells: []string{"–", busy(s), grouped(float64(s.Longest))}}, true
			}
			w := s.Wasted.Mean / s.Work.Mean
			return barRow{
				Cells: []string{percent(w), busy(s), grouped(float64(s.Longest))},
				Bar:   stacked(part("useful", 1-w), part("extra", w)),
			}, true
		})
	}
	return t
}

// busy says how many workers were at work, on average, and of how many.
func busy(s *sim.ServiceResult) string {
	if s.Workers == 0 {
		return amount(s.Work.Mean)
	}
	return amount(s.Work.Mean) + " of " + strconv.Itoa(s.Workers)
}
