package jitter

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/kalan-go/kalan/policy/span"
)

// anyDuration draws from the whole range, ends included.
func anyDuration(t *rapid.T, name string) time.Duration {
	return time.Duration(rapid.Int64().Draw(t, name))
}

// anyFraction draws what a caller should pass, and what one may pass by mistake.
func anyFraction(t *rapid.T) float64 {
	return rapid.OneOf(rapid.Float64Range(0, 1), rapid.Float64(), rapid.SampledFrom([]float64{math.NaN(), math.Inf(1), math.Inf(-1)})).Draw(t, "u")
}

func TestDelayStaysInside(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		longest, u := anyDuration(t, "longest"), anyFraction(t)
		if d := Delay(longest, u); d < 0 || d > max(longest, 0) {
			t.Fatalf("Delay(%v, %v) = %v", longest, u, d)
		}
	})
}

func TestAroundStaysInside(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, share, u := anyDuration(t, "d"), anyFraction(t), anyFraction(t)
		width := Delay(d, share)
		if got := Around(d, share, u); got < span.Sub(max(d, 0), width) || got > span.Add(max(d, 0), width) {
			t.Fatalf("Around(%v, %v, %v) = %v, more than %v away", d, share, u, got, width)
		}
	})
}

// F2: 300 s +-20 %.
func TestLifetimesAreSpread(t *testing.T) {
	for _, test := range []struct {
		lifetime Lifetime
		u        float64
		want     time.Duration
	}{
		{Lifetime{}, 0, 240 * time.Second},
		{Lifetime{}, 0.5, 300 * time.Second},
		{Lifetime{}, 0.75, 330 * time.Second},
		{Lifetime{Value: time.Second, Share: -1}, 0.9, time.Second},
		{Lifetime{Value: time.Second, Share: 1}, 0, 0},
		{Lifetime{Value: span.Max, Share: 0.5}, 0.999, span.Max},
	} {
		if got := test.lifetime.Pick(test.u); got != test.want {
			t.Errorf("%+v.Pick(%v) = %v, want %v", test.lifetime, test.u, got, test.want)
		}
	}
}

func TestSleepEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reason := errors.New("the reason")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(reason) })
		begun := time.Now()
		if err := Sleep(ctx, time.Hour); err != reason || time.Since(begun) != time.Second {
			t.Errorf("Sleep returned %v after %v", err, time.Since(begun))
		}
		for _, d := range []time.Duration{time.Hour, 0, -1} {
			if err := Sleep(ctx, d); err != reason {
				t.Errorf("Sleep(%v) returned %v on a context that has ended", d, err)
			}
		}
		if err := Sleep(t.Context(), 0); err != nil {
			t.Errorf("Sleep(0) returned %v", err)
		}
	})
}

func TestDecisionsAllocateNothing(t *testing.T) {
	place := PlaceOf("gateway-7d9f8b6c5d-x2x9k")
	if n := testing.AllocsPerRun(100, func() {
		Lifetime{}.Pick(0.3)
		Schedule{}.Next(5, 0.3)
		Start{}.Wait(place, 0.3)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
