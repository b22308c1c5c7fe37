package draw

import (
	"slices"
	"strings"

	"github.com/kalan-go/kalan/internal/figure"
)

// A Number is a coordinate. It is written with a tenth of a unit, which is less
// than anybody sees, and never in exponents.
type Number float64

// String writes the number.
func (n Number) String() string { return figure.Short(float64(n), 1) }

// A Point is a place in a drawing.
type Point struct{ X, Y float64 }

// A Mark is one thing that is drawn: the first of Path, Text and R that is not
// zero says what; otherwise it is a box.
type Mark struct {
	Class      string
	Path       string
	Text       string
	Anchor     string // of a text: start, middle or end
	X, Y, W, H Number
	R          Number // of a dot
}

// A Drawing is a chart as marks, the first ones lowest.
type Drawing struct {
	ID            string // unlike that of any other drawing on the page
	Title, About  string // for whoever cannot see it
	Width, Height Number
	Marks         []Mark
}

// Line draws a line through the points.
func (d *Drawing) Line(class string, points ...Point) {
	if len(points) > 0 {
		d.Marks = append(d.Marks, Mark{Class: class, Path: through(points)})
	}
}

// Area fills what is between the points and the height base.
func (d *Drawing) Area(class string, base float64, points ...Point) {
	if len(points) == 0 {
		return
	}
	around := append(slices.Clone(points), Point{points[len(points)-1].X, base}, Point{points[0].X, base})
	d.Marks = append(d.Marks, Mark{Class: class, Path: through(around) + "Z"})
}

// through returns the points as the commands of a path.
func through(points []Point) string {
	var path strings.Builder
	for i, p := range points {
		if i == 0 {
			path.WriteString("M")
		} else {
			path.WriteString("L")
		}
		path.WriteString(Number(p.X).String() + " " + Number(p.Y).String())
	}
	return path.String()
}

// Box fills the box between two corners.
func (d *Drawing) Box(class string, a, b Point) {
	d.Marks = append(d.Marks, Mark{Class: class,
		X: Number(min(a.X, b.X)), Y: Number(min(a.Y, b.Y)), W: Number(max(a.X, b.X) - min(a.X, b.X)), H: Number(max(a.Y, b.Y) - min(a.Y, b.Y))})
}

// Dot draws a dot of a radius.
func (d *Drawing) Dot(class string, at Point, radius float64) {
	d.Marks = append(d.Marks, Mark{Class: class, X: Number(at.X), Y: Number(at.Y), R: Number(radius)})
}

// Text writes a text; anchor says which part of it is at the point: start,
// middle or end.
func (d *Drawing) Text(class, anchor string, at Point, text string) {
	if text != "" {
		d.Marks = append(d.Marks, Mark{Class: class, Anchor: anchor, X: Number(at.X), Y: Number(at.Y), Text: text})
	}
}
