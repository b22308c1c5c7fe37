package latency_test

import (
	"math"
	"testing"
	"time"

	"github.com/kalan-go/kalan/policy/latency"
	"pgregory.net/rapid"
)

const ms = time.Millisecond

func TestMedianNeedsEnoughAnswers(t *testing.T) {
	var r latency.Record
	if _, known := r.Median(); known {
		t.Error("nothing was told, and a median is known")
	}
	for i := range latency.Enough {
		if _, known := r.Median(); known {
			t.Errorf("known after %d answers", i)
		}
		r.Add(ms)
	}
	if m, known := r.Median(); !known || m != ms {
		t.Errorf("median %v known %v, want 1ms known", m, known)
	}
}

func TestMedianForgetsOldAnswers(t *testing.T) {
	var r latency.Record
	for range 1000 {
		r.Add(time.Second)
	}
	for range 64 {
		r.Add(ms)
	}
	if m, _ := r.Median(); m != ms {
		t.Errorf("median %v after 64 answers of 1ms", m)
	}
}

// The prediction stays within what was seen, whatever is told.
func TestExpectedStaysInRange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var r latency.Record
		var longest time.Duration
		for _, d := range rapid.SliceOfN(rapid.Int64(), 1, 200).Draw(t, "took") {
			r.Add(time.Duration(d))
			longest = max(longest, time.Duration(d))
		}
		if r.Mean() < 0 || r.Deviation() < 0 || r.Expected() < 0 || r.Mean() > longest {
			t.Fatalf("mean %v deviation %v expected %v, longest %v", r.Mean(), r.Deviation(), r.Expected(), longest)
		}
	})
}

// A share that is none is the nearest that is one.
func TestQuantilesOfWhatIsNoShare(t *testing.T) {
	var r latency.Record
	for i := range 64 {
		r.Add(time.Duration(i+1) * ms)
	}
	for q, want := range map[float64]time.Duration{-1: ms, math.Inf(-1): ms, 2: 64 * ms, math.Inf(1): 64 * ms} {
		if got, _ := r.Quantile(q); got != want {
			t.Errorf("%v: %v, want %v", q, got, want)
		}
	}
	if got, _ := r.Quantile(math.NaN()); got < ms || got > 64*ms {
		t.Errorf("NaN: %v", got)
	}
}

func TestAddAllocatesNothing(t *testing.T) {
	var r latency.Record
	if n := testing.AllocsPerRun(1000, func() { r.Add(ms); r.Median() }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
