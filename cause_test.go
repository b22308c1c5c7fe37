package kalan_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/policy"
)

// A retry that is refused leaves what the attempt before it came to, also where
// that attempt was left behind and will say nothing itself.
func TestARefusedRetryKeepsTheCause(t *testing.T) {
	soon := func(c *kalan.Config) { c.Retry.Attempts, c.Retry.Base, c.Retry.Cap, c.Budget = 9, ms, ms, generous }
	for why, change := range map[policy.Reason]func(*kalan.Config){
		policy.Open:    all(soon, tripsAt(1, 10*time.Second, 1)),
		policy.Waited:  all(soon, slots(1)),         // the slot is the ghost's
		policy.Full:    all(soon, slots(1), noWait), // the same, and no place to wait
		policy.Expired: func(c *kalan.Config) { c.Retry.Base, c.Retry.Cap, c.Retry.Jitter = time.Hour, time.Hour, 0 },
	} {
		synctest.Test(t, func(t *testing.T) {
			g := guard(t, change)
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
			defer cancel()
			_, _, err := kalan.Hold(ctx, g, leave, takes(5*time.Second))
			r, ok := errors.AsType[*kalan.Rejection](err)
			if !ok || r.Reason != why || !errors.Is(r.Cause, policy.Timeout) || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%v: %v; want the timeout as the cause", why, err)
			}
			time.Sleep(6 * time.Second)
			idle(t, g)
		})
	}
}

// What ended by time limits alone says so once.
func TestATimeoutIsNoCauseOfItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := guard(t, atOnce)
		_, _, err := kalan.Hold(t.Context(), g, leave, takes(5*time.Second))
		if r, ok := errors.AsType[*kalan.Rejection](err); !ok || r.Reason != policy.Timeout || r.Cause != nil {
			t.Errorf("%v", err)
		}
		time.Sleep(6 * time.Second)
		idle(t, g)
	})
}

// The timeout of a guard further in is a cause of its own.
func TestAnInnerTimeoutStaysTheCause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner, outer := guard(t, once), guard(t, all(once, func(c *kalan.Config) { c.Exchange = 800*ms + 1 }))
		_, err := kalan.Do(t.Context(), outer, func(ctx context.Context) (int, error) {
			_, err := kalan.Do(ctx, inner, takes(time.Second))
			return 0, errors.Join(errDown, err)
		})
		if r, ok := errors.AsType[*kalan.Rejection](err); !ok || r.Reason != policy.Timeout || !errors.Is(r.Cause, errDown) {
			t.Errorf("%v", err)
		}
	})
}

// A caller whose own deadline ends the attempt gets no timeout of the attempt's.
func TestTheCallersDeadlineIsNoTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := guard(t, nil)
		ctx, cancel := context.WithTimeout(t.Context(), 800*ms) // the attempt's limit too
		defer cancel()
		_, _, err := kalan.Hold(ctx, g, leave, takes(5*time.Second))
		if !errors.Is(err, policy.Expired) || errors.Is(err, policy.Timeout) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
		time.Sleep(6 * time.Second)
		idle(t, g)
	})
}
