package kalan

import (
	"context"
	"testing"
	"time"
	"unsafe"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/limit"
	"github.com/kalan-go/kalan/policy/stack"
)

// setBack makes a guard whose wall clock was set by step since it was made: its
// epoch reads another time of day and the same monotonic time.
func setBack(t *testing.T, step time.Duration) *Guard {
	t.Helper()
	g, err := New(Config{Config: stack.Config{Limit: limit.Fixed(100), Rate: 30}})
	if err != nil {
		t.Fatal(err)
	}
	mono := g.now()
	// The first word of a time.Time with a monotonic reading holds the seconds
	// of its wall clock from bit 30 on.
	*(*uint64)(unsafe.Pointer(&g.epoch)) -= uint64(step/time.Second) << 30
	if d := g.epoch.Round(0).Add(step).Sub(time.Now().Round(0)); d.Abs() > time.Minute {
		t.Fatalf("the layout of time.Time has changed: the step is off by %v", d)
	}
	if d := g.now().Sub(mono); d < 0 || d > time.Minute {
		t.Fatalf("the monotonic clock moved by %v with the wall clock", d)
	}
	return g
}

// O-12: a wall clock that is set by an hour, either way, locks nobody out, gives
// nobody a burst, and moves no deadline, also not one that knows only the time of
// day.
func TestASteppedWallClockIsNothing(t *testing.T) {
	for _, step := range []time.Duration{time.Hour, -time.Hour, -11 * time.Second} {
		g := setBack(t, step)
		for name, deadline := range map[string]time.Time{
			"with a monotonic reading": time.Now().Add(time.Minute),
			"that is only time of day": time.Now().Add(time.Minute).Round(0),
		} {
			ctx, cancel := context.WithDeadline(t.Context(), deadline)
			if left := g.instant(ctx).Sub(g.now()); left < 50*time.Second || left > time.Minute {
				t.Errorf("a minute, %s, is %v after a step of %v", name, left, step)
			}
			cancel()
		}
		admitted := 0
		for range 100 { // a burst of 30, and what little comes back meanwhile
			if _, err := Do(t.Context(), g, func(context.Context) (int, error) { return 0, nil }); err == nil {
				admitted++
			}
		}
		if admitted < 30 || admitted > 40 {
			t.Errorf("%d admitted after a step of %v, want the burst of 30", admitted, step)
		}
		if s := g.Snapshot(); s.Breaker.State != 0 || s.Counts.Refused[policy.Rate] == 0 {
			t.Errorf("%+v", s)
		}
	}
}
