package report

import (
	"math"
	"time"

	"github.com/kalan-go/kalan/cmd/internal/report/draw"
	"github.com/kalan-go/kalan/sim"
	"github.com/kalan-go/kalan/sim/record"
)

// classesOfLatency is how many classes of latency a decade has.
const classesOfLatency = 12

// A latencyChart is how long answers took, as a histogram over the logarithm:
// what is late is an order of magnitude late, not a bit.
type latencyChart struct {
	Panels []panel
	Rows   []latencyRow

	from, to float64 // seconds
	highest  float64 // share in a class
}

// A latencyRow is an arm's figures behind the chart.
type latencyRow struct {
	Arm, Answers, Mean, P50, P95, P99, P999, Max string
}

func newLatencyChart(r *sim.Result) *latencyChart {
	c := &latencyChart{from: math.Inf(1)}
	for i := range r.Arms {
		if h := &r.Arms[i].Latency; h.Count() > 0 {
			c.from = min(c.from, max(h.Quantile(.005), time.Microsecond).Seconds())
			c.to = max(c.to, h.Quantile(.9995).Seconds())
		}
	}
	if c.to <= 0 {
		return c // nobody was answered
	}
	c.from, c.to = draw.Round(c.from, false), draw.Round(max(c.to, 3*c.from), true)
	for i := range r.Arms {
		for _, share := range c.shares(&r.Arms[i].Latency) {
			c.highest = max(c.highest, share)
		}
	}
	for i := range r.Arms {
		c.Panels = append(c.Panels, c.panel(i, &r.Arms[i]))
		c.Rows = append(c.Rows, rowOfLatency(&r.Arms[i]))
	}
	return c
}

// shares returns the share of answers in each class.
func (c *latencyChart) shares(h *record.Histogram) []float64 {
	shares := make([]float64, c.class(c.to)+1)
	for from, b := range h.Buckets() {
		if x := (from + b.Width/2).Seconds(); x >= c.from && x < c.to {
			shares[c.class(x)] += float64(b.Count) / float64(h.Count())
		}
	}
	return shares
}

// class returns which class a latency is in.
func (c *latencyChart) class(seconds float64) int {
	return int(math.Log10(seconds/c.from)*classesOfLatency + 1e-9)
}

func (c *latencyChart) panel(i int, a *sim.ArmResult) panel {
	const height, top, right = 176, 34, wide - 26
	end := draw.Ceil(100*c.highest, 3)
	ys := draw.Ticks(end, 3)
	for j := range ys {
		ys[j].Label += narrow + "%"
	}
	f := draw.NewFrame(leftOf(ys), top, right, height-24, draw.Scale{From: c.from, To: c.to, Log: true}, draw.Scale{To: end})
	p := newPanel("latency", i, a, height)
	d := p.Drawing
	d.Title = "Latency of the answers, " + p.Arm
	d.Axes(&f, draw.Decades(c.from, c.to), ys)
	if a.Latency.Count() == 0 {
		d.About = "Nobody was answered."
		d.Text("empty", "middle", draw.Point{X: (f.Left + f.Right) / 2, Y: (f.Top + f.Bottom) / 2}, "nobody was answered")
		return p
	}
	var points []draw.Point
	for j, share := range c.shares(&a.Latency) {
		x := c.from * math.Pow(10, float64(j)/classesOfLatency)
		next := c.from * math.Pow(10, float64(j+1)/classesOfLatency)
		points = append(points, f.At(x, 100*share), f.At(min(next, c.to), 100*share))
	}
	d.Area("goodput-area", f.Bottom, points...)
	d.Line("goodput", points...)
	d.About = percentiles(d, &f, &a.Latency)
	return p
}

// percentiles marks three of them and returns what they are.
func percentiles(d *draw.Drawing, f *draw.Frame, h *record.Histogram) (about string) {
	names := []string{"p50", "p95", "p99"}
	labels, places := make([]string, 3), make([]float64, 3)
	longest := 0.
	for i, q := range []float64{.5, .95, .99} {
		at := h.Quantile(q)
		labels[i], places[i] = took(at), f.X.At(at.Seconds())
		about += names[i] + " " + labels[i] + ". "
		longest = max(longest, draw.Wide(labels[i], textSize))
		d.Line("percentile", draw.Point{X: places[i], Y: f.Top}, draw.Point{X: places[i], Y: f.Bottom})
	}
	for i, x := range draw.Spread(places, longest+6, longest/2, wide-longest/2) {
		d.Text("percentile-name", "middle", draw.Point{X: x, Y: 12}, names[i])
		d.Text("percentile-value", "middle", draw.Point{X: x, Y: 26}, labels[i])
		d.Line("leader", draw.Point{X: x, Y: 29}, draw.Point{X: places[i], Y: f.Top})
	}
	return about
}

func rowOfLatency(a *sim.ArmResult) latencyRow {
	h := &a.Latency
	at := func(q float64) string { return quantile(h, q) }
	row := latencyRow{
		Arm: named(a.Name, longestName), Answers: count(h.Count()), Mean: "–",
		P50: at(.5), P95: at(.95), P99: at(.99), P999: at(.999), Max: at(1),
	}
	if h.Count() > 0 {
		row.Mean = took(h.Mean())
	}
	return row
}

// quantile writes what the share q of all answers do not exceed.
func quantile(h *record.Histogram, q float64) string {
	if h.Count() == 0 {
		return "–"
	}
	return took(h.Quantile(q))
}
