package draw

import (
	"math"
	"strconv"
	"time"

	"github.com/kalan-go/kalan/internal/figure"
)

// A Scale leads from values to coordinates.
type Scale struct {
	From, To float64 // values
	A, B     float64 // where they stand
	Log      bool
}

// At returns where a value stands. Values beyond the scale stand at its ends,
// and so does what is not a number.
func (s Scale) At(x float64) float64 {
	from, to := s.From, s.To
	if s.Log {
		x, from, to = math.Log(x), math.Log(from), math.Log(to)
	}
	share := (x - from) / (to - from)
	if !(share > 0) {
		share = 0
	}
	return s.A + min(share, 1)*(s.B-s.A)
}

// A Tick is a marked value of an axis.
type Tick struct {
	At    float64
	Label string
}

// Step returns the smallest of 1, 2 and 5 times a power of ten that divides
// the span into at most n parts.
func Step(span float64, n int) float64 {
	raw := span / float64(max(n, 1))
	if !(raw > 0) || math.IsInf(raw, 0) {
		return 1
	}
	power := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, m := range []float64{1, 2, 5} {
		if m*power >= raw*(1-1e-9) {
			return m * power
		}
	}
	return 10 * power
}

// Ceil returns the end of an axis from 0 for values up to most: the next tick,
// if there are about n of them.
func Ceil(most float64, n int) float64 {
	if !(most > 0) || math.IsInf(most, 0) {
		return 1
	}
	step := Step(most, n)
	return step * math.Ceil(most/step-1e-9)
}

// Ticks returns the round values from 0 to an end.
func Ticks(end float64, n int) []Tick {
	step := Step(end, n)
	var ticks []Tick
	for i := range int(end/step+1e-6) + 1 {
		x := float64(i) * step
		ticks = append(ticks, Tick{x, amount(x, step)})
	}
	return ticks
}

// amount writes a value of an axis whose ticks are a step apart.
func amount(x, step float64) string {
	unit, name := 1., ""
	for _, u := range []struct {
		size float64
		name string
	}{{1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if x >= 10*u.size || x >= u.size && step >= u.size/2 {
			unit, name = u.size, u.name
			break
		}
	}
	decimals := int(max(0, -math.Floor(math.Log10(step/unit)+1e-9)))
	return figure.Short(x/unit, min(decimals, 9)) + name
}

// TimeTicks returns the round instants from 0 to an end.
func TimeTicks(end time.Duration, n int) []Tick {
	unit, name := time.Millisecond, "ms"
	switch {
	case end > 100*time.Hour:
		unit, name = 24*time.Hour, "d"
	case end > 100*time.Minute:
		unit, name = time.Hour, "h"
	case end > 200*time.Second:
		unit, name = time.Minute, "min"
	case end > 2*time.Second:
		unit, name = time.Second, "s"
	}
	ticks := Ticks(float64(end)/float64(unit), n)
	for i := range ticks {
		ticks[i].At *= unit.Seconds()
		ticks[i].Label += "\u00a0" + name
	}
	return ticks
}

// Decades returns the ticks of a logarithmic axis of seconds: each power of
// ten, or 1, 2 and 5 of each where there are few.
func Decades(from, to float64) []Tick {
	steps := []float64{1}
	if to/from < 150 {
		steps = []float64{1, 2, 5}
	}
	var ticks []Tick
	for power := math.Floor(math.Log10(from) + 1e-9); power <= math.Log10(to)+1e-9; power++ {
		for _, m := range steps {
			x := m * math.Pow(10, power)
			if x >= from*(1-1e-9) && x <= to*(1+1e-9) {
				ticks = append(ticks, Tick{x, seconds(x)})
			}
		}
	}
	return ticks
}

// seconds writes a round number of seconds.
func seconds(x float64) string {
	unit, name := 1., "s"
	switch {
	case x < 0.9999e-6:
		unit, name = 1e-9, "ns"
	case x < 0.9999e-3:
		unit, name = 1e-6, "µs"
	case x < 0.9999:
		unit, name = 1e-3, "ms"
	}
	return strconv.FormatFloat(x/unit, 'g', 3, 64) + "\u00a0" + name
}

// Round returns the nearest of 1, 2 and 5 times a power of ten that is not
// above x, or not below it.
func Round(x float64, up bool) float64 {
	power := math.Pow(10, math.Floor(math.Log10(x)))
	best := power
	for _, m := range []float64{1, 2, 5, 10} {
		switch at := m * power; {
		case up && at >= x*(1-1e-9):
			return at
		case !up && at <= x*(1+1e-9):
			best = at
		}
	}
	return best
}
