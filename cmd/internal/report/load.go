package report

import (
	"math"

	"github.com/kalan-go/kalan/cmd/internal/report/draw"
	"github.com/kalan-go/kalan/sim"
)

const heightOfLoad = 264

// pointsOfLoad is how many dots a cloud has at most.
const pointsOfLoad = 60

// farthest is how many times what was offered a chart is wide, at most: where the
// line bends far beyond it, all that was seen would be one dot.
const farthest = 3

// A loadChart sets what is answered against what is offered: where the line
// bends is what the system can do, and a dot below it is a system that does
// less than it could. Of two dots one above the other, which is what a
// metastable failure looks like, the load says nothing: the past does (Bronson
// and others, HotOS 2021).
type loadChart struct {
	Panels   []panel
	Capacity bool // some arm has one
	Troubled bool // some arm has a trigger
	Searched bool // for some arm the largest load that heals
	Rows     []loadRow

	right, top float64
}

// A loadRow is an arm's figures behind the chart.
type loadRow struct{ Arm, Capacity, Heals, Before, After string }

func newLoadChart(r *sim.Result) *loadChart {
	c := &loadChart{}
	right, top := 0., 0.
	courses := make([]*course, len(r.Arms))
	for i := range r.Arms {
		a := &r.Arms[i]
		courses[i] = courseOf(r, a, points(r, pointsOfLoad))
		offered := most(courses[i].moments, func(m *sim.Moment) float64 { return m.Offered })
		right = max(right, offered, min(1.15*a.Capacity, farthest*offered))
		top = max(top, most(courses[i].moments, func(m *sim.Moment) float64 { return m.Answered }))
		c.Capacity = c.Capacity || a.Capacity > 0
		c.Troubled = c.Troubled || courses[i].troubled()
		c.Searched = c.Searched || healing(r, a) != nil
	}
	for i := range r.Arms {
		if k := r.Arms[i].Capacity; k > 0 {
			top = max(top, min(k, right))
		}
	}
	c.right, c.top = draw.Ceil(right, 5), draw.Ceil(top, 5)
	for i := range r.Arms {
		c.Panels = append(c.Panels, c.panel(r, i, courses[i]))
		c.Rows = append(c.Rows, newLoadRow(r, courses[i]))
	}
	c.sweep(r, courses)
	return c
}

func (c *loadChart) panel(r *sim.Result, i int, k *course) panel {
	p := newPanel("load", i, k.arm, heightOfLoad)
	d := p.Drawing
	d.Title = "Goodput against offered load, " + p.Arm
	d.About = aboutTime(k)
	f := c.frame(d)
	c.vulnerable(d, &f, r, k.arm)
	c.knee(d, &f, k.arm)
	for j := range k.moments {
		m := &k.moments[j]
		if m.At >= k.warmup {
			d.Dot("dot "+k.phase(m), f.At(m.Offered, m.Answered), 2.5)
		}
	}
	c.marks(d, &f, k)
	return p
}

// phase says when a stretch of time was.
func (c *course) phase(m *sim.Moment) string {
	switch middle := m.At + c.step/2; {
	case !c.troubled():
		return "after"
	case middle < c.begins:
		return "before"
	case middle <= c.ends:
		return "during"
	}
	return "after"
}

// knee draws what could be answered at best.
func (c *loadChart) knee(d *draw.Drawing, f *draw.Frame, a *sim.ArmResult) {
	best := min(c.right, c.top)
	if a.Capacity > 0 {
		best = min(best, a.Capacity)
	}
	points := []draw.Point{f.At(0, 0), f.At(best, best)}
	if a.Capacity > 0 && a.Capacity <= best {
		points = append(points, f.At(c.right, best))
		d.Text("knee-name", "end", draw.Point{X: f.Right, Y: f.Y.At(best) - 7}, "capacity "+amount(a.Capacity)+"/s")
	} else if a.Capacity > c.right {
		d.Text("knee-name", "end", draw.Point{X: f.Right, Y: f.Top - 7}, "capacity "+amount(a.Capacity)+"/s, beyond")
	}
	d.Line("knee", points...)
}

// vulnerable shades the loads at which a trigger decides: from the largest one
// that heals by itself, which was searched for, to what the system can do.
func (c *loadChart) vulnerable(d *draw.Drawing, f *draw.Frame, r *sim.Result, a *sim.ArmResult) {
	s := healing(r, a)
	if s == nil || a.Capacity <= s.Found {
		return
	}
	d.Box("vulnerable", f.At(s.Found, 0), f.At(a.Capacity, c.top))
	d.Line("heals", f.At(s.Found, 0), f.At(s.Found, c.top))
}

// healing returns the search for the largest load from which an arm heals. What
// it varied is one load's rate, so it says nothing where there are several.
func healing(r *sim.Result, a *sim.ArmResult) *sim.SearchResult {
	for i := range r.Searches {
		s := &r.Searches[i]
		if s.What == "load" && len(a.Loads) == 1 && !s.Always && !s.Never && (s.Arm == a.Name || s.Arm == "" && a == &r.Arms[0]) {
			return s
		}
	}
	return nil
}

// marks sets where the arm was before the trigger against where it ended.
func (c *loadChart) marks(d *draw.Drawing, f *draw.Frame, k *course) {
	if !k.troubled() {
		return // the cloud says it all
	}
	m, ok := k.before()
	at := f.At(m.Offered, m.Answered)
	m, ended := k.after()
	end := f.At(m.Offered, m.Answered)
	if ok && ended && math.Hypot(at.X-end.X, at.Y-end.Y) > 20 {
		arrow(d, at, end)
		beside(d, f, at, "before")
		beside(d, f, end, "after")
	} else if ok && ended {
		beside(d, f, end, "before and after")
	} else if ok {
		beside(d, f, at, "before")
	}
	if ended {
		d.Dot("mark after", end, 5)
	}
	if ok {
		d.Dot("mark before", at, 5)
	}
}

// beside names a mark, on the side where there is more room.
func beside(d *draw.Drawing, f *draw.Frame, at draw.Point, text string) {
	if at.Y > f.Bottom-10 {
		at.Y = f.Bottom - 10 // above the axis
	}
	if at.X > (f.Left+f.Right)/2 {
		d.Text("mark-name", "end", draw.Point{X: at.X - 13, Y: at.Y + 4}, text)
		return
	}
	d.Text("mark-name", "start", draw.Point{X: at.X + 13, Y: at.Y + 4}, text)
}

// arrow leads from one mark to another and touches neither.
func arrow(d *draw.Drawing, from, to draw.Point) {
	long := math.Hypot(to.X-from.X, to.Y-from.Y)
	x, y := (to.X-from.X)/long, (to.Y-from.Y)/long
	at := func(along, aside float64) draw.Point {
		return draw.Point{X: from.X + along*x - aside*y, Y: from.Y + along*y + aside*x}
	}
	d.Line("arrow", at(8, 0), at(long-9, 0))
	d.Line("arrow", at(long-14, 4), at(long-8, 0), at(long-14, -4))
}
