package report

import (
	"fmt"
	"strconv"

	"github.com/kalan-go/kalan/cmd/internal/report/draw"
	"github.com/kalan-go/kalan/policy/span"
	"github.com/kalan-go/kalan/sim"
)

// pointsInTime is how many points a line has at most: more than the panel has
// units between them would only be noise.
const pointsInTime = 240

// perSecond names the upright axis.
const perSecond = "requests/s"

// A timeChart is every arm over time, on the same axes.
type timeChart struct {
	Panels   []panel
	Step     string
	Attempts bool // they are drawn
	Warmup   bool
	Numbers  numbers

	courses []*course
	top     float64
}

func newTimeChart(r *sim.Result) *timeChart {
	c := &timeChart{Warmup: r.Warmup > 0}
	served, sent := 0., 0.
	for i := range r.Arms {
		k := courseOf(r, &r.Arms[i], points(r, pointsInTime))
		c.courses = append(c.courses, k)
		served = max(served, most(k.moments, func(m *sim.Moment) float64 { return max(m.Offered, m.Answered) }))
		sent = max(sent, most(k.moments, func(m *sim.Moment) float64 { return m.Attempts }))
	}
	// Attempts are drawn where there are more of them than requests, unless
	// they would press the other lines to the ground.
	c.Attempts = sent > 1.1*served && sent < 3*served
	if c.top = draw.Ceil(served, 5); c.Attempts {
		c.top = draw.Ceil(sent, 5)
	}
	for i := range r.Arms {
		c.Panels = append(c.Panels, c.panel(r, i))
	}
	if len(c.courses) > 0 {
		c.Step = took(c.courses[0].step)
	}
	c.Numbers = c.numbers()
	return c
}

func (c *timeChart) panel(r *sim.Result, i int) panel {
	const height, top, right = 224, 30, wide - 68
	k := c.courses[i]
	ys := draw.Ticks(c.top, 5)
	f := draw.NewFrame(leftOf(ys), top, right, height-24, draw.Scale{To: r.Duration.Seconds()}, draw.Scale{To: c.top})
	p := newPanel("time", i, k.arm, height)
	d := p.Drawing
	d.Title = "Requests over time, " + p.Arm
	d.About = aboutTime(k)
	if r.Warmup > 0 {
		d.Box("warmup", f.At(0, 0), f.At(r.Warmup.Seconds(), c.top))
	}
	d.Text("axis-name", "start", draw.Point{Y: f.Top - 12}, perSecond)
	p.Note = shadeTroubles(d, &f, k)
	d.Axes(&f, draw.TimeTicks(r.Duration, 6), ys)
	c.lines(d, &f, k)
	p.Hover = &hover{Table: "time-numbers", Column: 1 + 3*i, Left: draw.Number(100 * f.Left / wide), Right: draw.Number(100 * f.Right / wide)}
	return p
}

// lines draws what was asked and what was answered, each with its name at its
// end.
func (c *timeChart) lines(d *draw.Drawing, f *draw.Frame, k *course) {
	lines := []struct {
		class string
		of    func(*sim.Moment) float64
	}{
		{"attempts", func(m *sim.Moment) float64 { return m.Attempts }},
		{"offered", func(m *sim.Moment) float64 { return m.Offered }},
		{"goodput", func(m *sim.Moment) float64 { return m.Answered }},
	}
	if !c.Attempts {
		lines = lines[1:]
	}
	ends := make([]float64, len(lines))
	for i, l := range lines {
		points := k.points(f, l.of)
		if l.class == "goodput" {
			d.Area("goodput-area", f.Bottom, points...)
		}
		d.Line(l.class, points...)
		if len(points) > 0 {
			ends[i] = points[len(points)-1].Y
		}
	}
	for i, y := range draw.Spread(ends, 14, f.Top, f.Bottom) {
		d.Text("name "+lines[i].class+"-name", "start", draw.Point{X: f.Right + 6, Y: y + 4}, lines[i].class)
	}
}

// points returns a line through the middles of the stretches.
func (c *course) points(f *draw.Frame, of func(*sim.Moment) float64) []draw.Point {
	points := make([]draw.Point, len(c.moments))
	for i := range c.moments {
		points[i] = f.At((c.moments[i].At + c.step/2).Seconds(), of(&c.moments[i]))
	}
	return points
}

// shadeTroubles shades when triggers were on and names them: the only one at
// its place, several by numbers that the returned note explains.
func shadeTroubles(d *draw.Drawing, f *draw.Frame, k *course) (note string) {
	all := k.arm.Troubles
	labels, middles := make([]string, len(all)), make([]float64, len(all))
	for i, w := range all {
		a, b := f.At(w.From.Seconds(), f.Y.To), f.At(w.To.Seconds(), 0)
		b.X = max(b.X, a.X+1.5) // what takes no time is seen all the same
		d.Box("trigger", a, b)
		labels[i], middles[i] = strconv.Itoa(i+1), (a.X+b.X)/2
		if note != "" {
			note += "; "
		}
		note += fmt.Sprintf("%d: %s, %s", i+1, named(w.Name, 30), window(w))
	}
	wideName := 14.
	if len(all) == 1 {
		labels[0] = named(all[0].Name, 24)
		wideName = draw.Wide(labels[0], textSize)
		note = labels[0] + ": " + window(all[0])
	}
	for i, x := range draw.Spread(middles, wideName, draw.Wide(perSecond, textSize)+wideName/2, wide-wideName/2) {
		d.Text("trigger-name", "middle", draw.Point{X: x, Y: f.Top - 12}, labels[i])
	}
	return note
}

func window(w sim.Window) string {
	if w.From == w.To {
		return "at " + took(w.From)
	}
	return "from " + took(w.From) + " to " + took(w.To)
}

// aboutTime says in words what a chart shows.
func aboutTime(k *course) string {
	text := ""
	say := func(when string, m sim.Moment, ok bool) {
		if ok {
			text += fmt.Sprintf("%s: %s offered and %s answered a second. ", when, amount(m.Offered), amount(m.Answered))
		}
	}
	if !k.troubled() {
		m, ok := k.before()
		say("After the warm-up", m, ok)
		return text
	}
	m, ok := k.before()
	say("Before the trigger", m, ok)
	m, ok = k.over(k.begins, k.ends)
	say("While it lasts", m, ok)
	m, ok = k.after()
	say("Long after it", m, ok)
	return text
}

// numbers returns what the lines are drawn from.
func (c *timeChart) numbers() numbers {
	n := numbers{ID: "time-numbers", Caption: "Requests a second over time", First: "from"}
	rows := 0
	for _, k := range c.courses {
		n.Groups = append(n.Groups, named(k.arm.Name, longestName))
		rows = max(rows, len(k.moments))
	}
	n.Columns = []string{"offered", "goodput", "attempts"}
	for i := range rows {
		row := numberRow{Head: took(span.Mul(c.courses[0].step, int64(i)))}
		for _, k := range c.courses {
			var m sim.Moment
			if i < len(k.moments) {
				m = k.moments[i]
			}
			row.Cells = append(row.Cells, amount(m.Offered), amount(m.Answered), amount(m.Attempts))
		}
		n.Rows = append(n.Rows, row)
	}
	return n
}
