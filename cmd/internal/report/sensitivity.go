package report

import (
	"fmt"

	"github.com/kalan-go/kalan/cmd/internal/report/draw"
	"github.com/kalan-go/kalan/sim"
	"github.com/kalan-go/kalan/sim/record"
)

// newIntervals says how sure each mean is. Arms that are played with the same
// random numbers differ by less than their intervals suggest.
func newIntervals(r *sim.Result) barTable {
	t := barTable{Caption: "Means over the replications with their 95 % intervals", Columns: []string{"mean"},
		Key: []keyed{{"interval", "95 % interval"}, {"mean", "mean"}}}
	for _, f := range []struct {
		name, unit string
		of         func(*sim.ArmResult) record.Interval
	}{
		{"goodput", "/s", func(a *sim.ArmResult) record.Interval { return a.Goodput }},
		{"attempts", "/s", func(a *sim.ArmResult) record.Interval { return a.Attempts }},
		{"attempts per request", "", func(a *sim.ArmResult) record.Interval { return a.Amplification }},
		{"wasted work", narrow + "%", func(a *sim.ArmResult) record.Interval {
			return record.Interval{Mean: 100 * a.Wasted.Mean, Half: 100 * a.Wasted.Half, N: a.Wasted.N}
		}},
		{"recovery", narrow + "s", func(a *sim.ArmResult) record.Interval { return a.Recovery }},
	} {
		end := 0.
		for i := range r.Arms {
			x := f.of(&r.Arms[i])
			end = max(end, x.Mean+x.Half)
		}
		if end <= 0 {
			continue
		}
		t.group(r, f.name, func(a *sim.ArmResult) (barRow, bool) {
			x := f.of(a)
			return barRow{Cells: []string{between(x, f.unit)}, Bar: whisker(x, end)}, x.N > 0
		})
	}
	return t
}

// whisker returns an interval and its mean on a scale from 0 to an end.
func whisker(x record.Interval, end float64) []barPart {
	at := func(v float64) draw.Number { return draw.Number(100 * min(max(v/end, 0), 1)) }
	low, high := at(x.Mean-x.Half), at(x.Mean+x.Half)
	return []barPart{{"interval", low, high - low}, {"mean", at(x.Mean), .1}} // a line, as thick as the style sheet says
}

// newVerdicts says how often each verdict was.
func newVerdicts(r *sim.Result) barTable {
	t := barTable{Caption: "Verdicts of the replications", Columns: []string{"verdicts"}, Words: true}
	t.group(r, "verdict", func(a *sim.ArmResult) (barRow, bool) {
		row, all := barRow{}, 0
		for _, n := range a.Verdicts {
			all += n
		}
		text := ""
		for v := len(a.Verdicts) - 1; v >= 0; v-- {
			n := a.Verdicts[v]
			if n == 0 {
				continue
			}
			if text != "" {
				text += ", "
			}
			text += fmt.Sprintf("%v in %d of %d", sim.Verdict(v), n, all)
			row.Bar = append(row.Bar, cells(tones[sim.Verdict(v)], len(row.Bar), n, all)...)
		}
		if a.Doubt != "" {
			text += ": " + a.Doubt
		}
		row.Cells = []string{text}
		return row, all > 0
	})
	if len(r.Arms) > 1 && len(t.Groups) > 0 {
		t.Groups[0].Name = ""
	}
	return t
}

func percentOf(k, n int) draw.Number { return draw.Number(100 * float64(k) / float64(max(n, 1))) }

// cells returns one part of a bar for each of n replications of all.
func cells(class string, from, n, all int) []barPart {
	parts := make([]barPart, n)
	wide := 100 / float64(all)
	for i := range parts {
		parts[i] = barPart{class, draw.Number(float64(from+i) * wide), draw.Number(wide - min(.8, wide/4))}
	}
	return parts
}
