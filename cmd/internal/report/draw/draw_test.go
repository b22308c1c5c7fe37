package draw_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/kalan-go/kalan/cmd/internal/report/draw"
)

func TestPaths(t *testing.T) {
	var d draw.Drawing
	d.Line("a", draw.Point{X: 1, Y: 2.04}, draw.Point{X: 1e6, Y: 0.06})
	d.Area("b", 9, draw.Point{X: 1, Y: 2}, draw.Point{X: 3, Y: 4})
	d.Line("nothing")
	d.Area("nothing", 0)
	d.Text("nothing", "start", draw.Point{}, "")
	d.Box("c", draw.Point{X: 5, Y: 6}, draw.Point{X: 2, Y: 1})
	d.Dot("d", draw.Point{X: 1, Y: 1}, 3)
	got := ""
	for _, m := range d.Marks {
		got += fmt.Sprintf("%s %s %v %v %v %v %v\n", m.Class, m.Path, m.X, m.Y, m.W, m.H, m.R)
	}
	want := "a M1 2L1000000 0.1 0 0 0 0 0\nb M1 2L3 4L3 9L1 9Z 0 0 0 0 0\nc  2 1 3 5 0\nd  1 1 0 0 3\n"
	if got != want {
		t.Errorf("the marks are\n%swant\n%s", got, want)
	}
}

func labels(ticks []draw.Tick) string {
	all := make([]string, len(ticks))
	for i, t := range ticks {
		all[i] = t.Label
	}
	return strings.ReplaceAll(strings.Join(all, " "), "\u00a0", "")
}

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		end  float64
		n    int
		want string
	}{
		{400, 5, "0 100 200 300 400"}, {1, 5, "0 0.2 0.4 0.6 0.8 1"}, {1000, 5, "0 200 400 600 800 1000"},
		{1500, 3, "0 500 1k 1.5k"}, {80000, 4, "0 20k 40k 60k 80k"}, {3e6, 3, "0 1M 2M 3M"}, {0.0005, 5, "0 0.0001 0.0002 0.0003 0.0004 0.0005"},
	} {
		if got := labels(draw.Ticks(c.end, c.n)); got != c.want {
			t.Errorf("to %v: %s, want %s", c.end, got, c.want)
		}
	}
}

func TestTimeTicks(t *testing.T) {
	for end, want := range map[time.Duration]string{
		time.Second:       "0ms 200ms 400ms 600ms 800ms 1000ms",
		2 * time.Minute:   "0s 20s 40s 60s 80s 100s 120s",
		10 * time.Minute:  "0min 2min 4min 6min 8min 10min",
		5 * time.Hour:     "0h 1h 2h 3h 4h 5h",
		240 * time.Hour:   "0d 2d 4d 6d 8d 10d",
		90 * time.Second:  "0s 20s 40s 60s 80s",
		200 * time.Second: "0s 50s 100s 150s 200s",
	} {
		if got := labels(draw.TimeTicks(end, 6)); got != want {
			t.Errorf("to %v: %s, want %s", end, got, want)
		}
	}
}

func TestDecades(t *testing.T) {
	for _, c := range []struct {
		from, to float64
		want     string
	}{
		{1e-4, 1, "100µs 1ms 10ms 100ms 1s"}, {5e-3, .2, "5ms 10ms 20ms 50ms 100ms 200ms"}, {1e-6, 100, "1µs 10µs 100µs 1ms 10ms 100ms 1s 10s 100s"},
	} {
		if got := labels(draw.Decades(c.from, c.to)); got != c.want {
			t.Errorf("%v to %v: %s, want %s", c.from, c.to, got, c.want)
		}
	}
}

func TestRoundAndCeil(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := math.Exp(rapid.Float64Range(-20, 20).Draw(t, "log"))
		if down, up := draw.Round(x, false), draw.Round(x, true); down > x*(1+1e-6) || up < x*(1-1e-6) || up > 2.6*x || down < x/2.6 {
			t.Errorf("%v lies between %v and %v", x, down, up)
		}
		n := rapid.IntRange(2, 8).Draw(t, "n")
		if end := draw.Ceil(x, n); end < x*(1-1e-6) || end > 3*x || len(draw.Ticks(end, n)) > 2*n+2 {
			t.Errorf("the axis for %v ends at %v with %d ticks", x, end, len(draw.Ticks(end, n)))
		}
	})
}

// What is not a number, or too large, stands at an end and not in the margin.
func TestScalesKeepInside(t *testing.T) {
	for _, s := range []draw.Scale{{From: 0, To: 10, A: 5, B: 50}, {From: 1, To: 10, A: 5, B: 50, Log: true}, {A: 5, B: 50}} {
		for _, x := range []float64{-1, 0, math.NaN(), math.Inf(1), math.Inf(-1), 1e300} {
			if at := s.At(x); !(at >= 5 && at <= 50) {
				t.Errorf("%+v: %v stands at %v", s, x, at)
			}
		}
	}
}

func TestSpread(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		places := rapid.SliceOfN(rapid.Float64Range(-50, 150), 0, 8).Draw(t, "places")
		gap := rapid.Float64Range(0, 30).Draw(t, "gap")
		spread := draw.Spread(places, gap, 0, 100)
		if len(spread) != len(places) {
			t.Fatalf("%d of %d", len(spread), len(places))
		}
		for i, a := range spread {
			if a < -1e-9 || a > 100+1e-9 {
				t.Errorf("%v is outside", a)
			}
			for j, b := range spread[:i] {
				if reachable := min(gap, 100/max(float64(len(places)-1), 1)); math.Abs(a-b) < reachable-1e-6 {
					t.Errorf("%v and %v are nearer than %v", a, b, reachable)
				}
				if places[i] < places[j] && a > b || places[i] > places[j] && a < b {
					t.Errorf("%v and %v changed their order", places[j], places[i])
				}
			}
		}
	})
	if got := draw.Spread([]float64{50, 10, 52}, 10, 0, 100); !slices.Equal(got, []float64{46, 10, 56}) {
		t.Errorf("the least that parts them is not %v", got)
	}
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		text string
		n    int
		want string
	}{
		{"short", 9, "short"}, {"a long name", 6, "a lon…"}, {"a long name", 3, "a…"}, {"tür\u202e\x00\n", 9, "tür"}, {"日本語の名前", 4, "日本語…"}, {"x", 0, "…"},
	} {
		if got := draw.Cut(c.text, c.n); got != c.want {
			t.Errorf("%q at %d is %q, want %q", c.text, c.n, got, c.want)
		}
	}
}
