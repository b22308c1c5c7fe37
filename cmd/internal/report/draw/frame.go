package draw

// A Frame is where a drawing's values stand: the inside of its axes.
type Frame struct {
	Left, Top, Right, Bottom float64
	X, Y                     Scale
}

// NewFrame returns a frame with scales that fill it. Values grow to the right
// and upwards.
func NewFrame(left, top, right, bottom float64, x, y Scale) Frame {
	x.A, x.B = left, right
	y.A, y.B = bottom, top
	return Frame{left, top, right, bottom, x, y}
}

// At returns where a pair of values stands.
func (f *Frame) At(x, y float64) Point { return Point{f.X.At(x), f.Y.At(y)} }

// Axes draws ticks with their labels: lines across for the upright axis, short
// strokes for the other, so that the values stand out and not the net.
func (d *Drawing) Axes(f *Frame, xs, ys []Tick) {
	for _, t := range ys {
		y := f.Y.At(t.At)
		d.Line("grid", Point{f.Left, y}, Point{f.Right, y})
		d.Text("tick", "end", Point{f.Left - 6, y + 4}, t.Label)
	}
	d.Line("axis", Point{f.Left, f.Bottom}, Point{f.Right, f.Bottom})
	for _, t := range xs {
		x := f.X.At(t.At)
		d.Line("axis", Point{x, f.Bottom}, Point{x, f.Bottom + 4})
		d.Text("tick", "middle", Point{x, f.Bottom + 17}, t.Label)
	}
}
