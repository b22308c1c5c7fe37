package random

import (
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

const ms = time.Millisecond

// Mean, coefficient of variation and percentiles against what the formulas say.
func TestLawsHaveTheirMoments(t *testing.T) {
	const draws = 1_000_000
	for _, test := range []struct {
		text          string
		mean, cv      float64 // ms, and without a unit
		p50, p99      float64 // ms
		tolerance     float64
		tailTolerance float64
	}{
		{"10ms", 10, 0, 10, 10, 1e-9, 1e-9},
		{"exponential 10ms", 10, 1, 6.9315, 46.0517, .005, .01},
		{"lognormal mean 10ms sigma 1", 10, math.Sqrt(math.E - 1), 6.0653, 62.105, .01, .015},
		{"lognormal p50 8ms p99 120ms", 8 * 1.96903, 1.6962, 8, 120, .015, .02},
		{"erlang 4 10ms", 10, .5, 9.1802, 25.1125, .003, .01},
		{"erlang 40 10ms", 10, 1 / math.Sqrt(40), 9.9168, 14.0412, .003, .01},
		{"hyper 0.9 5ms 0.1 55ms", 10, math.Sqrt(2*(.9*25+.1*3025)/100 - 1), 4.0457, 126.66, .01, .02},
		{"normal 50ms 12.5ms", 50, .25, 50, 79.0793, .003, .01},
		{"normal 0ms 10ms", 7.97885, .75552, 6.7449, 25.758, .004, .01},
		{"uniform 5ms 15ms", 10, 1 / math.Sqrt(12), 10, 14.9, .003, .003},
		{"values 0.9 5ms 0.1 200ms", 24.5, 2.38776, 5, 200, .01, 1e-9},
		{"histogram 90 5ms 10 205ms", 12.75, 2.5, 2.7778, 185, .01, .01},
		{"cycle 6ms 7ms 8ms 19ms", 10, .5244, 8, 19, 1e-5, 1e-9},
	} {
		l, err := Parse(test.text)
		if err != nil {
			t.Fatal(err)
		}
		s := Of(1, Name(test.text))
		all, sum, squares := make([]float64, draws), 0.0, 0.0
		for i := range all {
			x := float64(l.Draw(&s, uint64(i))) / float64(ms)
			all[i], sum, squares = x, sum+x, squares+x*x
		}
		mean := sum / draws
		cv := math.Sqrt(max(squares/draws-mean*mean, 0)) / mean
		p50, p99 := kth(all, draws/2), kth(all, draws/100*99)
		near := func(what string, got, want, tolerance float64) {
			if math.Abs(got-want) > tolerance*math.Max(want, .01) {
				t.Errorf("%s: %s is %v, want %v", test.text, what, got, want)
			}
		}
		near("mean", mean, test.mean, test.tolerance)
		near("Mean", float64(l.Mean())/float64(ms), test.mean, 1e-4)
		if !strings.HasPrefix(test.text, "histogram") { // its parts are uniform, its cv has no short formula
			near("variation", cv, test.cv, 3*test.tolerance)
		}
		near("p50", p50, test.p50, test.tailTolerance)
		near("p99", p99, test.p99, test.tailTolerance)
	}
}

// kth returns the k-th smallest of xs (Hoare's selection).
func kth(xs []float64, k int) float64 {
	low, high := 0, len(xs)-1
	for low < high {
		pivot, i, j := xs[(low+high)/2], low, high
		for i <= j {
			for xs[i] < pivot {
				i++
			}
			for xs[j] > pivot {
				j--
			}
			if i <= j {
				xs[i], xs[j] = xs[j], xs[i]
				i++
				j--
			}
		}
		switch {
		case k <= j:
			high = j
		case k >= i:
			low = i
		default:
			return xs[k]
		}
	}
	return xs[k]
}

func TestLawsAreReadAsTheyAreWritten(t *testing.T) {
	for _, text := range []string{
		"0s", "10ms", "exponential 10ms", "lognormal mean 10ms sigma 1", "erlang 4 10ms", "hyper 0.9 5ms 0.1 200ms",
		"normal 50ms 12.5ms", "uniform 5ms 15ms", "values 0.9 5ms 0.1 200ms", "histogram 0.9 5ms 0.1 200ms", "cycle 6ms 7ms 1s",
	} {
		l, err := Parse(text)
		if err != nil || l.String() != text {
			t.Errorf("%q is read as %q, %v", text, l, err)
		}
	}
	var l Law
	if err := l.UnmarshalText([]byte("constant 3ms")); err != nil || l.String() != "3ms" {
		t.Errorf("constant: %v, %v", l, err)
	}
}

func TestBadLawsAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		"":                              "is empty",
		"10":                            "no unit",
		"poisson 10ms":                  `"poisson" is not a law`,
		"10ms 20ms":                     "is not a law",
		"exponential":                   `takes 1, and 0 words are there; write for example "exponential 10ms"`,
		"exponential -1s":               "sign",
		"exponential 9000h":             "longer than a year",
		"erlang 0 10ms":                 "phases",
		"erlang 4":                      "phases",
		"erlang 4 x":                    "duration",
		"lognormal 1ms 2ms":             "two percentiles",
		"lognormal p50 0s p99 1s":       "no logarithm",
		"lognormal p50 2ms p99 1ms":     "larger",
		"lognormal p99 1ms p50 2ms":     "larger",
		"lognormal p100 1ms p99 2ms":    "percentile",
		"lognormal p50 1ms 99 2ms":      "percentile",
		"lognormal p50 1ms p99 2":       "unit",
		"lognormal p50 x p99 2ms":       "duration",
		"lognormal mean 1ms sigma nan":  "number",
		"normal 1ms":                    "takes 2",
		"uniform 2ms 1ms":               "is more than",
		"uniform 2ms":                   "takes 2",
		"values 1 5ms 2":                "pairs",
		"values":                        "pairs",
		"values 0 5ms":                  "all weights are 0",
		"values -1 5ms":                 "number",
		"values 1 x":                    "duration",
		"histogram 1 5ms 1 5ms":         "above",
		"cycle":                         "takes durations",
		"cycle 6ms -7ms":                "sign",
		"hyper NaN 5ms":                 "number",
		"constant 1ms 2ms":              "takes 1",
		strings.Repeat("x", 500) + " y": "is not a law",
	} {
		l, err := Parse(text)
		if err == nil || !strings.Contains(err.Error(), want) || len(err.Error()) > 400 {
			t.Errorf("%.40q: %v, %v; want %q", text, l, err, want)
		}
	}
}

// Whatever is accepted draws what it can be simulated with.
func FuzzLaw(f *testing.F) {
	for _, form := range forms {
		f.Add(form.example)
	}
	f.Fuzz(func(t *testing.T, text string) {
		l, err := Parse(text)
		if err != nil {
			return
		}
		s := Of(7)
		for n := range uint64(50) {
			if d := l.Draw(&s, n); d < 0 {
				t.Fatalf("%q takes %v", text, d)
			}
		}
		if l.Mean() < 0 {
			t.Fatalf("%q takes %v on average", text, l.Mean())
		}
		if again, err := Parse(l.String()); err != nil {
			t.Fatalf("%q is written as %q: %v", text, l, err)
		} else if a, b := again.Mean().Seconds(), l.Mean().Seconds(); math.Abs(a-b) > 1e-6+1e-4*b {
			t.Fatalf("%q has the mean %v, and %v when it is read again as %q", text, l.Mean(), again.Mean(), l)
		}
	})
}

// The words and their order make the stream; things below it are apart.
func TestStreamsAreApart(t *testing.T) {
	seen := map[uint64]string{}
	for name, s := range map[string]Stream{
		"1":    Of(1),
		"1,0":  Of(1, 0),
		"0,1":  Of(0, 1),
		"name": Of(1, Name("a")),
		"sub0": Of(1).Sub(0),
		"sub1": Of(1).Sub(1),
		"none": Of(),
	} {
		first := s.Uint64()
		if other, taken := seen[first]; taken {
			t.Errorf("%s and %s are the same stream", name, other)
		}
		seen[first] = name
	}
}

// A stream of firsts, as a simulation uses it for one thing each, is as even as
// a stream: chi-square over 64 cells, at the 0.999 percentile.
func TestFirstNumbersAreEven(t *testing.T) {
	const cells, draws = 64, 1_000_000
	for _, base := range []Stream{Of(1), Of(2, Name("x")), 0} {
		var sequence, firsts, below [cells]int
		s := base
		for i := range uint64(draws) {
			sequence[int(s.Float64()*cells)]++
			one := base.Sub(i)
			firsts[one.IntN(cells)]++
			two := base.Sub(i / 1000).Sub(i % 1000)
			below[int(two.Float64()*cells)]++
		}
		for name, counts := range map[string][cells]int{"sequence": sequence, "firsts": firsts, "below": below} {
			chi := 0.0
			for _, n := range counts {
				d := float64(n) - draws/cells
				chi += d * d / (draws / cells)
			}
			if chi > 103.4 {
				t.Errorf("%s: chi-square %.1f with 63 degrees of freedom", name, chi)
			}
		}
	}
}

func TestNumbersStayInside(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Stream(rapid.Uint64().Draw(t, "state"))
		if u := s.Float64(); !(u > 0 && u < 1) {
			t.Fatalf("%v", u)
		}
		n := rapid.IntRange(-5, 1000).Draw(t, "n")
		if i := s.IntN(n); i < 0 || i >= max(n, 1) {
			t.Fatalf("%d of %d", i, n)
		}
	})
	for _, at := range []uint64{0, math.MaxUint64} { // the extreme numbers
		if u := (float64(at>>12) + 0.5) / (1 << 52); !(u > 0 && u < 1) {
			t.Errorf("%d gives %v", at, u)
		}
	}
}

func TestDrawAllocatesNothing(t *testing.T) {
	s := Of(3)
	for _, form := range forms {
		l, err := Parse(form.example)
		if err != nil {
			t.Fatal(err)
		}
		if n := testing.AllocsPerRun(100, func() { l.Draw(&s, 1) }); n != 0 {
			t.Errorf("%v: %v allocations", l, n)
		}
	}
}

func BenchmarkDraw(b *testing.B) {
	for _, text := range []string{"10ms", "exponential 10ms", "lognormal p50 8ms p99 120ms", "erlang 4 10ms", "hyper 0.9 5ms 0.1 200ms"} {
		l, err := Parse(text)
		if err != nil {
			b.Fatal(err)
		}
		s := Of(1)
		b.Run(strings.Fields(text)[0], func(b *testing.B) {
			for b.Loop() {
				l.Draw(&s, 0)
			}
		})
	}
}
