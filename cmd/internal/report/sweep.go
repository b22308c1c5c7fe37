package report

import (
	"cmp"
	"math"
	"slices"

	"github.com/kalan-go/kalan/cmd/internal/report/draw"
	"github.com/kalan-go/kalan/sim"
)

// isSweep reports whether the arms are one system under several loads: at least
// three, each apart from the others, over a range worth looking at.
func isSweep(courses []*course) bool {
	if len(courses) < 3 {
		return false
	}
	first, last := courses[0].arm, courses[len(courses)-1].arm
	if last.Offered.Mean < 1.2*first.Offered.Mean {
		return false
	}
	for i, c := range courses[1:] {
		if c.arm.Offered.Mean < 1.02*courses[i].arm.Offered.Mean || math.Abs(c.arm.Capacity-first.Capacity) > .01*first.Capacity {
			return false
		}
	}
	return true
}

// sweep adds a chart with a mark for each arm, where the arms are loads: there
// the curve is that of the system, with its knee and with the load from which on
// it does not come back.
func (c *loadChart) sweep(r *sim.Result, courses []*course) {
	courses = slices.Clone(courses)
	slices.SortStableFunc(courses, func(a, b *course) int { return cmp.Compare(a.arm.Offered.Mean, b.arm.Offered.Mean) })
	if !isSweep(courses) {
		return
	}
	p := panel{Arm: "all arms", Drawing: &draw.Drawing{ID: "load-all", Title: "Goodput against offered load, all arms", Width: wide, Height: heightOfLoad}}
	d := p.Drawing
	f := c.frame(d)
	for _, k := range courses {
		if healing(r, k.arm) != nil {
			c.vulnerable(d, &f, r, k.arm)
			break
		}
	}
	c.knee(d, &f, courses[0].arm)
	var before, after []draw.Point
	for _, k := range courses {
		if m, ok := k.before(); ok {
			before = append(before, f.At(m.Offered, m.Answered))
			d.About += named(k.arm.Name, longestName) + ": " + aboutTime(k)
		}
		if m, ok := k.after(); ok && k.troubled() {
			after = append(after, f.At(m.Offered, m.Answered))
		}
	}
	d.Line("goodput", after...)
	for _, at := range after {
		d.Dot("mark after", at, 5)
	}
	for _, at := range before {
		d.Dot("mark before", at, 5)
	}
	c.Panels = append([]panel{p}, c.Panels...)
}

// frame draws the axes that all panels share and returns where values stand.
func (c *loadChart) frame(d *draw.Drawing) draw.Frame {
	const top, right = 30, wide - 16
	ys := draw.Ticks(c.top, 5)
	f := draw.NewFrame(leftOf(ys), top, right, heightOfLoad-42, draw.Scale{To: c.right}, draw.Scale{To: c.top})
	d.Axes(&f, draw.Ticks(c.right, 5), ys)
	d.Text("axis-name", "end", draw.Point{X: f.Right, Y: heightOfLoad - 4}, "offered, requests/s")
	d.Text("axis-name", "start", draw.Point{X: 0, Y: 13}, "answered/s")
	return f
}

// newLoadRow returns an arm's figures behind the chart.
func newLoadRow(r *sim.Result, k *course) loadRow {
	row := loadRow{Arm: named(k.arm.Name, longestName), Capacity: "–", Heals: "–", Before: pair(k.before()), After: "–"}
	if k.arm.Capacity > 0 {
		row.Capacity = amount(k.arm.Capacity) + "/s"
	}
	if s := healing(r, k.arm); s != nil {
		row.Heals = amount(s.Found) + "/s"
	}
	if k.troubled() {
		row.After = pair(k.after())
	}
	return row
}

func pair(m sim.Moment, ok bool) string {
	if !ok {
		return "–"
	}
	return amount(m.Answered) + " of " + amount(m.Offered) + "/s"
}
