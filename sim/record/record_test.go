package record

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Buckets follow one another without a gap, and every duration is in its own.
func TestBucketsTileTheDurations(t *testing.T) {
	for i := range index(math.MaxInt64) {
		if from, next := begin(i), begin(i+1); next <= from || index(from) != i || index(next-1) != i {
			t.Fatalf("bucket %d goes from %d to %d, whose ends are in %d and %d", i, from, next, index(from), index(next-1))
		}
	}
	if i := index(math.MaxInt64); begin(i) <= 0 || begin(i+1) != math.MaxInt64 {
		t.Errorf("the last bucket, %d, goes from %d to %d", i, begin(i), begin(i+1))
	}
	if width := float64(begin(5001)-begin(5000)) / float64(begin(5000)); width > 1./128 {
		t.Errorf("a bucket is %v of its beginning wide", width)
	}
}

// Within one per cent, up to p99.9, of what sorting finds.
func TestQuantilesAreWithinOnePerCent(t *testing.T) {
	dice := rand.New(rand.NewPCG(1, 2))
	for name, draw := range map[string]func() float64{
		"exponential": func() float64 { return dice.ExpFloat64() * 1e7 },
		"lognormal":   func() float64 { return 1e6 * math.Exp(2*dice.NormFloat64()) },
		"two values":  func() float64 { return 5e6 + float64(dice.IntN(10)/9)*195e6 },
		"constant":    func() float64 { return 12_345_678 },
		"nanoseconds": func() float64 { return float64(dice.IntN(300)) },
	} {
		var h Histogram
		all := make([]time.Duration, 200_000)
		for i := range all {
			all[i] = time.Duration(draw())
			h.Add(all[i])
		}
		slices.Sort(all)
		for _, q := range []float64{0.001, .25, .5, .95, .99, .999, 1} {
			want := all[min(int(math.Ceil(q*float64(len(all)))), len(all))-1]
			got := h.Quantile(q)
			if off := math.Abs(float64(got - want)); off > .01*float64(want)+1 {
				t.Errorf("%s: p%v is %v, want %v", name, 100*q, got, want)
			}
		}
		if h.Min() != all[0] || h.Max() != all[len(all)-1] || h.Count() != uint64(len(all)) {
			t.Errorf("%s: from %v to %v, %d in all", name, h.Min(), h.Max(), h.Count())
		}
	}
}

func TestMeanAndDeviationAreExact(t *testing.T) {
	var h Histogram
	for _, d := range []time.Duration{time.Second, 3 * time.Second, 5 * time.Second, 7 * time.Second} {
		h.Add(d)
	}
	if h.Mean() != 4*time.Second || h.Deviation() != 2236067977 {
		t.Errorf("mean %v, deviation %v", h.Mean(), h.Deviation())
	}
}

func TestEmpty(t *testing.T) {
	var h Histogram
	h.Merge(&Histogram{})
	if h.Mean() != 0 || h.Deviation() != 0 || h.Quantile(.5) != 0 || h.Max() != 0 {
		t.Errorf("%+v", h)
	}
}

// Merged in any grouping, it is as if one histogram had seen everything.
func TestMergingIsAdding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		long := rapid.Int64Range(-1, math.MaxInt64)
		var whole, left, right Histogram
		for i, d := range rapid.SliceOf(long).Draw(t, "durations") {
			whole.Add(time.Duration(d))
			if i%3 == 0 {
				left.Add(time.Duration(d))
			} else {
				right.Add(time.Duration(d))
			}
		}
		left.Merge(&right)
		for q := 0.0; q <= 1; q += .125 {
			if left.Quantile(q) != whole.Quantile(q) {
				t.Fatalf("p%v: %v, want %v", 100*q, left.Quantile(q), whole.Quantile(q))
			}
		}
		if left.Count() != whole.Count() || left.Min() != whole.Min() || left.Max() != whole.Max() {
			t.Fatalf("merged %+v, want %+v", left, whole)
		}
		if off := math.Abs(left.sum - whole.sum); off > 1e-9*whole.sum {
			t.Fatalf("sums %v and %v", left.sum, whole.sum)
		}
		left.Reset()
		if left.Count() != 0 || left.Quantile(1) != 0 {
			t.Fatalf("after a reset: %+v", left)
		}
	})
}

func TestAddAllocatesNothing(t *testing.T) {
	var h Histogram
	h.Add(0)
	d := time.Duration(1)
	if n := testing.AllocsPerRun(1000, func() { h.Add(d); d += time.Millisecond }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// Student's percentiles as tables have them.
func TestStudent(t *testing.T) {
	for freedom, want := range map[int]float64{1: 12.706, 9: 2.262, 11: 2.201, 15: 2.131, 30: 2.042, 100: 1.984, 1_000_000: 1.960} {
		if got := student(freedom); math.Abs(got-want) > .0006 {
			t.Errorf("t(%d) is %v, want %v", freedom, got, want)
		}
	}
}

// Of 2,000 intervals about 95 in 100 cover what they should: 1,900 +-4 standard
// deviations.
func TestIntervalsCover(t *testing.T) {
	dice := rand.New(rand.NewPCG(3, 4))
	covered := 0
	for range 2000 {
		samples := make([]float64, 10)
		for i := range samples {
			samples[i] = 50 + dice.NormFloat64()
		}
		if Over(samples).Covers(50) {
			covered++
		}
	}
	if covered < 1861 || covered > 1939 {
		t.Errorf("%d of 2,000 intervals cover the mean", covered)
	}
	if one := Over([]float64{3}); one.Half != 0 || one.Mean != 3 || one.N != 1 {
		t.Errorf("one sample gives %+v", one)
	}
	if none := Over(nil); none != (Interval{}) {
		t.Errorf("no sample gives %+v", none)
	}
}

func BenchmarkAdd(b *testing.B) {
	var h Histogram
	d := time.Duration(1)
	for b.Loop() {
		d = d*6364136223846793005 + 1442695040888963407
		h.Add(d >> 34)
	}
}
