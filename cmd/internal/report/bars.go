package report

import (
	"github.com/kalan-go/kalan/cmd/internal/report/draw"
	"github.com/kalan-go/kalan/sim"
)

// A barTable is a table with a bar in each row, grouped so that what is to be
// compared stands one below the other. The figures are the chart: nothing has
// to be read off.
type barTable struct {
	Caption string
	Columns []string
	Groups  []barGroup
	// Words says that the cells are words and may be broken.
	Words bool
	// Key says what the parts of a bar are; empty where there is one.
	Key []keyed
}

// A keyed is one entry of a key.
type keyed struct{ Class, Text string }

type barGroup struct {
	Name string
	Rows []barRow
}

type barRow struct {
	Name  string
	Cells []string
	Bar   []barPart
}

// A barPart is a stretch of a bar, in percent of its width.
type barPart struct {
	Class string
	X, W  draw.Number
}

// stacked returns the parts one behind the other, as shares of the whole bar.
func stacked(parts ...barPart) []barPart {
	at := draw.Number(0)
	for i := range parts {
		parts[i].X = at
		parts[i].W = max(min(parts[i].W, 100-at), 0)
		at += parts[i].W
	}
	return parts
}

func part(class string, share float64) barPart {
	return barPart{Class: class, W: draw.Number(100 * share)}
}

// group adds what the arms came to in one thing. With a single arm the things
// themselves are the rows, for there is nothing to group.
func (t *barTable) group(r *sim.Result, name string, row func(*sim.ArmResult) (barRow, bool)) {
	g := barGroup{Name: name}
	for i := range r.Arms {
		if made, ok := row(&r.Arms[i]); ok {
			made.Name = named(r.Arms[i].Name, longestName)
			g.Rows = append(g.Rows, made)
		}
	}
	if len(r.Arms) > 1 || len(g.Rows) == 0 {
		if len(g.Rows) > 0 {
			t.Groups = append(t.Groups, g)
		}
		return
	}
	g.Rows[0].Name = name
	if len(t.Groups) == 0 {
		t.Groups = []barGroup{{}}
	}
	t.Groups[0].Rows = append(t.Groups[0].Rows, g.Rows[0])
}

// each returns the names of things in all arms, in the order of their first
// appearance; the first ones, where there are too many.
func each[T any](r *sim.Result, things func(*sim.ArmResult) []T, name func(*T) string) []string {
	var names []string
	seen := make(map[string]bool)
	for i := range r.Arms {
		all := things(&r.Arms[i])
		for j := range all {
			if n := name(&all[j]); !seen[n] && len(names) < mostThings {
				seen[n] = true
				names = append(names, n)
			}
		}
	}
	return names
}

// find returns the thing of that name.
func find[T any](all []T, name func(*T) string, wanted string) *T {
	for i := range all {
		if name(&all[i]) == wanted {
			return &all[i]
		}
	}
	return nil
}
