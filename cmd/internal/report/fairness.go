package report

import (
	"github.com/kalan-go/kalan/internal/figure"
	"github.com/kalan-go/kalan/sim"
	"github.com/kalan-go/kalan/sim/record"
)

// A fairness says who got what: each load, each priority where there are
// several, and the tenants that ask most where there are some.
type fairness struct {
	Loads, Levels, Tenants barTable
	// Weighed says that there is more than one load to be fair to.
	Weighed bool
}

// tenantsShown is how many tenants the page shows; the data has more.
const tenantsShown = 5

// becomes are the parts of a bar of requests.
var becomes = []keyed{{"useful", "answered in time"}, {"refused", "refused"}, {"late", "too late"}, {"failed", "failed"}, {"open", "still unanswered at the end"}}

func newFairness(r *sim.Result) fairness {
	f := fairness{
		Loads:   barTable{Caption: "What became of the requests, by load", Key: becomes},
		Levels:  barTable{Caption: "What became of the requests, by priority", Columns: partColumns, Key: becomes},
		Tenants: barTable{Caption: "What became of the requests of the tenants that ask most", Columns: partColumns, Key: becomes},
	}
	for i := range r.Arms {
		f.Weighed = f.Weighed || len(r.Arms[i].Fair) > 1
	}
	f.addLoads(r)
	f.Levels.parts(r, func(a *sim.ArmResult) []sim.PartResult { return a.Levels })
	f.Tenants.parts(r, func(a *sim.ArmResult) []sim.PartResult { return a.Tenants[:min(len(a.Tenants), tenantsShown)] })
	return f
}

var partColumns = []string{"in time", "refused", "too late", "failed", "asked a second"}

func (f *fairness) addLoads(r *sim.Result) {
	loads := func(a *sim.ArmResult) []sim.LoadResult { return a.Loads }
	name := func(l *sim.LoadResult) string { return l.Name }
	f.Loads.Columns = []string{"in time", "refused", "too late", "failed", "p99"}
	if f.Weighed {
		f.Loads.Columns = append(f.Loads.Columns, "got a second", "fair would be")
	}
	for _, n := range each(r, loads, name) {
		f.Loads.group(r, named(n, longestName), func(a *sim.ArmResult) (barRow, bool) {
			l := find(a.Loads, name, n)
			if l == nil {
				return barRow{}, false
			}
			row := rowOf(l.Offered, l.Goodput, l.Refused.Mean, l.Late.Mean, l.Failed.Mean-l.Late.Mean)
			row.Cells = append(row.Cells, quantile(&l.Latency, .99))
			for i := range a.Fair {
				if a.Loads[i].Name == n && f.Weighed {
					row.Cells = append(row.Cells, amount(l.Goodput.Mean), amount(a.Fair[i].Mean))
				}
			}
			return row, true
		})
	}
	if !f.Weighed {
		return
	}
	f.Loads.group(r, "fairness (Jain’s index)", func(a *sim.ArmResult) (barRow, bool) {
		even := a.Fairness.Mean
		return barRow{Cells: []string{figure.Fixed(even, 2), "", "", "", "", "", ""}, Bar: stacked(part("first", even))}, true
	})
	f.addStarved(r)
}

// addStarved says how many of several tenants got nothing.
func (f *fairness) addStarved(r *sim.Result) {
	several := func(a *sim.ArmResult) (all []sim.LoadResult) {
		for _, l := range a.Loads {
			if l.Tenants > 1 {
				all = append(all, l)
			}
		}
		return all
	}
	name := func(l *sim.LoadResult) string { return l.Name }
	for _, n := range each(r, several, name) {
		f.Loads.group(r, named(n, longestName)+": tenants that got nothing", func(a *sim.ArmResult) (barRow, bool) {
			l := find(a.Loads, name, n)
			if l == nil {
				return barRow{}, false
			}
			x := l.Starved.Mean
			return barRow{Cells: []string{percent(x) + " of " + count(uint64(l.Tenants)), "", "", "", "", "", ""}, Bar: stacked(part("failed", x))}, true
		})
	}
}

// parts adds what became of parts of the requests.
func (t *barTable) parts(r *sim.Result, of func(*sim.ArmResult) []sim.PartResult) {
	name := func(p *sim.PartResult) string { return p.Name }
	for _, n := range each(r, of, name) {
		t.group(r, named(n, longestName), func(a *sim.ArmResult) (barRow, bool) {
			p := find(of(a), name, n)
			if p == nil {
				return barRow{}, false
			}
			row := rowOf(p.Offered, p.Goodput, p.Refused.Mean, p.Late.Mean, p.Failed.Mean)
			row.Cells = append(row.Cells, amount(p.Offered.Mean))
			return row, true
		})
	}
}

// rowOf is a bar of what became of some requests.
func rowOf(offered, goodput record.Interval, refused, late, failed float64) barRow {
	good := 0.
	if offered.Mean > 0 {
		good = min(goodput.Mean/offered.Mean, 1)
	}
	failed = max(failed, 0)
	return barRow{
		Cells: []string{percent(good), percent(refused), percent(late), percent(failed)},
		Bar:   stacked(part("useful", good), part("refused", refused), part("late", late), part("failed", failed), part("open", 1)),
	}
}
