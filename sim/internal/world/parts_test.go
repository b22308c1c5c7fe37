package world

import (
	"math"
	"testing"
	"time"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/sim/random"
	"pgregory.net/rapid"
)

// What is done between two instants is what had to be done, whatever the speeds
// in between; the two are each other's inverse.
func TestWorkEndsWhenItIsDone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		instant := rapid.Int64Range(0, 1e10)
		var all []Speed
		for range rapid.IntRange(0, 5).Draw(t, "windows") {
			from := policy.Instant(instant.Draw(t, "from"))
			all = append(all, Speed{From: from, To: from.Add(time.Duration(instant.Draw(t, "long"))),
				Rate: float64(rapid.IntRange(0, 4).Draw(t, "rate")) / 4, Instance: rapid.IntRange(-1, 1).Draw(t, "instance")})
		}
		in := instance{speeds: speedsOf(all, 0)}
		now, work := policy.Instant(instant.Draw(t, "now")), time.Duration(instant.Draw(t, "work"))
		end := in.after(now, work)
		if got := in.done(now, end); math.Abs(got-float64(work)) > 3 {
			t.Fatalf("%v of work from %v ends at %v, when %v is done", work, now, end, time.Duration(got))
		}
		if end > now.Add(work) && in.done(now, end-2) > float64(work) {
			t.Fatalf("%v of work from %v is done before %v", work, now, end)
		}
		for i, s := range in.speeds {
			if s.From >= s.To || i > 0 && s.From < in.speeds[i-1].To {
				t.Fatalf("speeds overlap: %+v", in.speeds)
			}
		}
	})
}

// Requests come as often as the rates say, also on a ramp, and at even distances
// exactly as often.
func TestRates(t *testing.T) {
	rates := []Rate{
		{PerSecond: 100}, {From: policy.Instant(10 * time.Second), PerSecond: 0},
		{From: policy.Instant(20 * time.Second), PerSecond: 0, Slope: 20}, {From: policy.Instant(30 * time.Second), PerSecond: 200, Slope: -10},
		{From: policy.Instant(50 * time.Second)},
	}
	count := func(x func() float64) (bins [7]int) {
		l := load{}
		for l.advance(rates, x()) && l.at < 70e9 {
			bins[int(l.at/1e10)]++
		}
		return bins
	}
	first := true
	even := count(func() float64 {
		if first {
			first = false
			return .5
		}
		return 1
	})
	if want := [7]int{1000, 0, 1000, 1500, 500, 0, 0}; even != want {
		t.Errorf("at even distances %v come, want %v", even, want)
	}
	s := random.Of(5)
	var sum [7]float64
	for range 100 {
		for i, n := range count(func() float64 { return -math.Log(s.Float64()) }) {
			sum[i] += float64(n) / 100
		}
	}
	for i, want := range []float64{1000, 0, 1000, 1500, 500, 0, 0} {
		if math.Abs(sum[i]-want) > 4*math.Sqrt(want/100) {
			t.Errorf("at random %.1f come between %d0 s and %d0 s, want %v", sum[i], i, i+1, want)
		}
	}
}

// CoDel drops nothing from a queue that was short for a moment of each interval,
// and drops at a growing rate from one that was not.
func TestCoDel(t *testing.T) {
	q := &Queue{Target: 5 * ms, Interval: 100 * ms}
	var c codel
	play := func(from, to time.Duration, waited func(at time.Duration) time.Duration) (dropped []time.Duration) {
		for at := from; at < to; at += ms {
			if c.drops(policy.Instant(at), waited(at), 10, q) {
				dropped = append(dropped, at)
			}
		}
		return dropped
	}
	if d := play(time.Second, 3*time.Second, func(at time.Duration) time.Duration {
		if at%(90*ms) == 0 {
			return 2 * ms
		}
		return 30 * ms
	}); len(d) > 0 {
		t.Errorf("a queue with short moments loses at %v", d)
	}
	c = codel{}
	always := play(time.Second, 2*time.Second, func(time.Duration) time.Duration { return 30 * ms })
	if len(always) < 10 || always[0] != 1100*ms || always[1]-always[0] > 101*ms || always[9]-always[8] > 40*ms {
		t.Errorf("a long queue loses at %v", always)
	}
	if c.drops(policy.Instant(2*time.Second), 30*ms, 0, q) {
		t.Error("the last in the queue is dropped")
	}
}
