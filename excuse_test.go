package kalan_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/policy"
)

// An attempt that says that it waits for its caller, from inside or while its
// value is held, blames nobody, and keeps its slot.
func TestAnExcusedAttemptBlamesNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := guard(t, nil)
		slow := func(ctx context.Context) (int, error) {
			kalan.Excuse(ctx)
			return takes(700 * ms)(ctx)
		}
		for range 50 {
			if _, held, err := kalan.Hold(t.Context(), g, leave, slow); err != nil {
				t.Fatal(err)
			} else if held.Release(policy.Failure); g.Snapshot().InFlight != 0 {
				t.Fatal("its slot is taken")
			}
			_, held, err := kalan.Hold(t.Context(), g, leave, takes(ms))
			if err != nil {
				t.Fatal(err)
			}
			held.Excuse()
			time.Sleep(700 * ms)
			if s := g.Snapshot(); s.InFlight != 1 {
				t.Fatalf("%d slots are taken while its value is read", s.InFlight)
			}
			held.Release(policy.Failure)
			held.Excuse() // too late for anything
		}
		if s := g.Snapshot(); s.Breaker.Calls > 0 || s.Breaker.Opened > 0 {
			t.Errorf("%+v", s.Breaker)
		}
		kalan.Excuse(t.Context()) // outside of an attempt
		kalan.Held{}.Excuse()
		idle(t, g)
	})
}
