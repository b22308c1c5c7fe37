package report

import (
	"fmt"
	"math"

	"github.com/kalan-go/kalan/cmd/internal/report/draw"
	"github.com/kalan-go/kalan/sim"
)

// The charts are small multiples: one an arm, drawn for the width of a phone
// and put side by side where there is room, all with the same axes. Letters are
// then as large on a phone as the rest of the page.
const (
	wide     = 400. // of a panel
	textSize = 12.  // as in the style sheet
)

// A panel is one arm's chart.
type panel struct {
	Arm     string
	Badge   badge
	Drawing *draw.Drawing
	Note    string
	// Hover lets a script show the row of a table under the pointer; nil: none.
	Hover *hover
}

// A hover says which table and which of its columns a chart's values stand in,
// and where the chart's inside begins and ends, as shares of its width.
type hover struct {
	Table       string
	Column      int
	Left, Right draw.Number
}

// A badge is a verdict, with how bad it is for its colour and shape.
type badge struct{ Word, Tone string }

func badgeOf(a *sim.ArmResult) badge {
	b := badge{a.Verdict.String(), tones[a.Verdict]}
	if n, all := a.Verdicts[a.Verdict], replications(a); n < all {
		b.Word += fmt.Sprintf(" in %d of %d", n, all)
	}
	return b
}

var tones = map[sim.Verdict]string{
	sim.Stable: "ok", sim.Recovers: "ok", sim.Undecided: "warn", sim.Suffers: "warn", sim.SlowDrain: "warn", sim.Metastable: "bad", sim.Collapsed: "bad",
}

// replications returns how often an arm was judged.
func replications(a *sim.ArmResult) (n int) {
	for _, verdict := range a.Verdicts {
		n += verdict
	}
	return n
}

// newPanel returns an arm's panel with an empty drawing.
func newPanel(kind string, i int, a *sim.ArmResult, height float64) panel {
	return panel{
		Arm: named(a.Name, longestName), Badge: badgeOf(a),
		Drawing: &draw.Drawing{ID: fmt.Sprintf("%s-%d", kind, i+1), Width: wide, Height: draw.Number(height)},
	}
}

// leftOf returns how far from the left the axis stands, so that its labels fit.
func leftOf(ticks []draw.Tick) float64 {
	longest := 0.
	for _, t := range ticks {
		longest = max(longest, draw.Wide(t.Label, textSize))
	}
	return math.Ceil(longest) + 8
}

// most returns the largest value of all, 0 when there is none.
func most[T any](all []T, of func(*T) float64) (m float64) {
	for i := range all {
		m = max(m, of(&all[i]))
	}
	return m
}
