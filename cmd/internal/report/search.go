package report

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/kalan-go/kalan/sim"
)

// A searchRow is what a search found.
type searchRow struct{ Name, Arm, Found, Range, Runs string }

func newSearches(r *sim.Result) []searchRow {
	var rows []searchRow
	for i := range r.Searches {
		s := &r.Searches[i]
		row := searchRow{Name: named(s.Name, longestName), Arm: named(s.Arm, longestName), Runs: plural(s.Runs, "value")}
		if s.Arm == "" && len(r.Arms) > 0 {
			row.Arm = named(r.Arms[0].Name, longestName)
		}
		row.Range = valued(s, s.Low) + " to " + valued(s, s.High)
		row.Found = found(s, valued(s, s.Found))
		rows = append(rows, row)
	}
	return rows
}

// found says what a search's value means.
func found(s *sim.SearchResult, value string) string {
	switch {
	case s.Always:
		return "already " + value + " tips it: search lower"
	case s.Never:
		return "even " + value + " does not tip it: search higher"
	case s.What == "trigger":
		return "a trigger of " + value + " is the shortest that tips it"
	}
	return value + " is the largest load from which it recovers"
}

// valued writes a value that a search varies.
func valued(s *sim.SearchResult, x float64) string {
	if s.What == "trigger" {
		return inSeconds(x)
	}
	return amount(x) + "/s"
}

// newTrials says how sharp the edges are that were searched for: at each value,
// how many replications did not recover, and between which shares the true one
// lies.
func newTrials(r *sim.Result) barTable {
	t := barTable{Caption: "Replications that did not recover, by what was tried", Columns: []string{"did not recover"},
		Key: []keyed{{"interval", "95 % interval"}, {"mean", "share that did not recover"}}}
	for i := range r.Searches {
		s := &r.Searches[i]
		g := barGroup{Name: named(s.Name, longestName)}
		trials := slices.Clone(s.Trials)
		slices.SortFunc(trials, func(a, b sim.Trial) int { return cmp.Compare(a.Value, b.Value) })
		for _, k := range trials {
			low, high := wilson(k.Tipped, k.Of)
			bar := stacked(part("", low), part("interval", high-low))
			bar = append(bar[1:], barPart{"mean", percentOf(k.Tipped, k.Of), .1})
			tipped := strconv.Itoa(k.Tipped) + " of " + strconv.Itoa(k.Of)
			if k.Undecided > 0 {
				tipped += ", " + strconv.Itoa(k.Undecided) + " undecided"
			}
			g.Rows = append(g.Rows, barRow{valued(s, k.Value), []string{tipped}, bar})
		}
		if len(g.Rows) > 0 {
			t.Groups = append(t.Groups, g)
		}
	}
	return t
}

// wilson returns the 95 % interval of a share of which k of n were seen (Wilson,
// JASA 22, 1927). Unlike the usual one it holds for few trials, and for none and
// all of them.
func wilson(k, n int) (low, high float64) {
	if n == 0 {
		return 0, 1
	}
	const z = 1.959963985
	p, m := float64(k)/float64(n), float64(n)
	middle := (p + z*z/(2*m)) / (1 + z*z/m)
	half := z / (1 + z*z/m) * math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	return max(middle-half, 0), min(middle+half, 1)
}
