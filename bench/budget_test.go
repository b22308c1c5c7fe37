package bench

import (
	"context"
	"testing"
	"time"

	"github.com/kalan-go/kalan/policy/limit"
)

// The allocation budgets: each policy alone none, the full stack none, and one
// with an attempt timeout that nobody waits on.
func TestAllocationBudgets(t *testing.T) {
	if race {
		t.Skip("the race detector allocates by itself")
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	for _, test := range []struct {
		name string
		call call
		most float64
	}{
		{"breaker", kalanBreaker(), 0},
		{"throttle", kalanThrottle(), 0},
		{"rate", kalanRate(), 0},
		{"slots", kalanSlots(100), 0},
		{"fixed limit", kalanLimit(limit.Fixed(100), true), 0},
		{"adaptive limit", kalanLimit(limit.Config{}, true), 0},
		{"AIMD", kalanLimit(limit.Config{Kind: limit.AIMD}, true), 0},
		{"Vegas", kalanLimit(limit.Config{Kind: limit.Vegas}, true), 0},
		{"Gradient2", kalanLimit(limit.Config{Kind: limit.Gradient2}, true), 0},
		{"retry", kalanRetry(), 0},
		{"full stack", guarded(guard(t, nil), ctx), 0},
		{"full stack with a timeout", guarded(guard(t, withTimeout), ctx), 1},
	} {
		if err := test.call(nothing); err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		if got := testing.AllocsPerRun(1000, func() { _ = test.call(nothing) }); got > test.most {
			t.Errorf("%s: %v allocations a call, want at most %v", test.name, got, test.most)
		}
	}
}

// What is compared does what it says: every peer admits, and hears of, a call.
func TestEveryPeerRunsTheWork(t *testing.T) {
	ctx := t.Context()
	for name, protect := range map[string]call{
		"gobreaker": goBreaker(false), "gobreaker-rolling": goBreaker(true), "failsafe breaker": failsafeBreakerAlone(),
		"go-zero breaker": zeroBreaker(), "aegis breaker": aegisBreaker(), "failsafe throttler": failsafeThrottler(), "x/time/rate": timeRate(), "failsafe rate": failsafeRate(),
		"x/sync/semaphore": syncSemaphore(1), "failsafe bulkhead": failsafeBulkhead(1), "failsafe adaptive": failsafeAdaptive(),
		"aegis BBR": aegisBBR(), "go-zero shedder": zeroShedder(), "failsafe retry": failsafeExecutor(failsafeRetry()),
		"failsafe stack": failsafeStack(false), "failsafe stack with timeout": failsafeStack(true),
		"kalan breaker": kalanBreaker(), "kalan throttle": kalanThrottle(), "kalan rate": kalanRate(), "kalan slots": kalanSlots(1), "kalan limit": kalanLimit(limit.Fixed(1), true), "kalan retry": kalanRetry(),
	} {
		ran := 0
		for range 3 {
			if err := protect(func() (int, error) { ran++; return 0, nil }); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if ran != 3 {
			t.Errorf("%s: ran %d of 3", name, ran)
		}
	}
	for _, limited := range []bool{false, true} {
		ran := 0
		if err := handMade(limited)(ctx, func(context.Context) (int, error) { ran++; return 0, nil }); err != nil || ran != 1 {
			t.Errorf("hand-made, limited %v: %v after %d runs", limited, err, ran)
		}
	}
}
