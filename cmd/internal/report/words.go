package report

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/kalan-go/kalan/internal/figure"
	"github.com/kalan-go/kalan/sim/record"
)

// narrow is a space at which no line breaks.
const narrow = "\u00a0"

// amount writes a rate or a ratio with three digits, and large ones in groups.
func amount(x float64) string {
	switch a := math.Abs(x); {
	case math.IsNaN(x) || math.IsInf(x, 0):
		return "–"
	case a >= 999.5:
		return grouped(x)
	case a >= 99.95:
		return figure.Short(x, 0)
	case a >= 9.995:
		return figure.Short(x, 1)
	case a >= 0.1 || a == 0:
		return figure.Short(x, 2)
	}
	return strconv.FormatFloat(x, 'g', 2, 64)
}

// grouped writes a whole number with a comma after each three digits.
func grouped(x float64) string {
	text := figure.Short(x, 0)
	start := len(text) - len(strings.TrimPrefix(text, "-"))
	for i := len(text) - 3; i > start; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// count writes a whole number.
func count(n uint64) string { return grouped(float64(n)) }

// times writes a ratio.
func times(x float64) string { return figure.Fixed(x, 2) + "×" }

// percent writes a share. What is not all, or not none, is not written so.
func percent(share float64) string {
	x := 100 * share
	switch {
	case math.IsNaN(x):
		return "–"
	case x > 0 && x < 0.1:
		return "<" + narrow + "0.1" + narrow + "%"
	case x > 99.9 && x < 100:
		return ">" + narrow + "99.9" + narrow + "%"
	case x < 10 || x > 99 && x < 100:
		return figure.Short(x, 1) + narrow + "%"
	}
	return figure.Short(x, 0) + narrow + "%"
}

// took writes a duration with three digits.
func took(d time.Duration) string {
	switch {
	case d >= 2*time.Hour:
		return whole(d, time.Hour, "h", time.Minute, "min")
	case d >= 2*time.Minute:
		return whole(d, time.Minute, "min", time.Second, "s")
	case d >= 999500*time.Microsecond: // with three digits it is a second
		return amount(d.Seconds()) + narrow + "s"
	case d >= time.Millisecond:
		return amount(float64(d)/float64(time.Millisecond)) + narrow + "ms"
	case d == 0:
		return "0" + narrow + "s"
	}
	return amount(float64(d)/float64(time.Microsecond)) + narrow + "µs"
}

func whole(d, unit time.Duration, name string, part time.Duration, partName string) string {
	d = d.Round(part)
	text := strconv.FormatInt(int64(d/unit), 10) + narrow + name
	if rest := d % unit / part; rest > 0 {
		text += " " + strconv.FormatInt(int64(rest), 10) + narrow + partName
	}
	return text
}

// inSeconds writes a number of seconds.
func inSeconds(s float64) string { return took(time.Duration(s * float64(time.Second))) }

// between writes a mean and how far from it the true one may be, with as many
// decimals as the second has digits that mean something.
func between(i record.Interval, unit string) string {
	if i.N < 2 || i.Half == 0 {
		return amount(i.Mean) + unit
	}
	decimals := max(0, 1-int(math.Floor(math.Log10(i.Half))))
	if i.Half >= 1000 {
		return grouped(i.Mean) + narrow + "±" + narrow + grouped(i.Half) + unit
	}
	return figure.Fixed(i.Mean, decimals) + narrow + "±" + narrow + figure.Fixed(i.Half, decimals) + unit
}

// plural writes a number and a noun.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}
