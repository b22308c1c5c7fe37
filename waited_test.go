package kalan

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/limit"
	"github.com/kalan-go/kalan/policy/room"
	"github.com/kalan-go/kalan/policy/stack"
)

// A refusal says whether its caller had waited for it.
func TestARefusalSaysWhetherItsCallerWaited(t *testing.T) {
	for _, leave := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			g, err := New(Config{Name: "one", Config: stack.Config{
				Checkout: 20 * time.Millisecond, Limit: limit.Fixed(1), Room: room.Config{Waiting: 1},
			}})
			if err != nil {
				t.Fatal(err)
			}
			busy := func(context.Context) (int, error) { time.Sleep(time.Second); return 0, nil }
			refusals := make(chan error, 3)
			for range 3 {
				go func() {
					_, held, err := Hold(t.Context(), g, Way[int]{Leave: leave}, busy)
					held.Release(policy.Success)
					refusals <- err
				}()
				synctest.Wait()
			}
			waited := make(map[policy.Reason]bool)
			for range 3 {
				if r, ok := errors.AsType[*Rejection](<-refusals); ok {
					waited[r.Reason] = r.Waited
				}
			}
			if len(waited) != 2 || waited[policy.Full] || !waited[policy.Waited] {
				t.Errorf("waited: %v, want a full room at once and a wait that was in vain", waited)
			}
			time.Sleep(time.Second)
		})
	}
}
