package handoff

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kalan-go/kalan/policy"
)

// More workers begin at once what waits, fewer stop nothing, who waits stays in
// line, and everything that was taken is done.
func TestConfigureKeepsWhatGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var done atomic.Int32
		q := must(t, Config{Name: "audit", Workers: 1, Waiting: 6}, Work[int]{Do: func(context.Context, int) {
			time.Sleep(time.Second)
			done.Add(1)
		}})
		for item := range 7 {
			if err := q.Offer(t.Context(), item); err != nil {
				t.Fatal(err)
			}
		}
		look := func(when string, running, waiting int) {
			t.Helper()
			synctest.Wait()
			if s := q.Snapshot(); s.Running != running || s.Waiting != waiting {
				t.Errorf("%s: %d run and %d wait, want %d and %d", when, s.Running, s.Waiting, running, waiting)
			}
		}
		look("with one worker", 1, 6)
		if err := q.Configure(Config{Workers: 2, Waiting: 2}); err != nil {
			t.Fatal(err)
		}
		look("with two", 2, 5)
		if err := q.Offer(t.Context(), 7); !errors.Is(err, policy.Full) {
			t.Errorf("with more in line than there are places: %v", err)
		}
		time.Sleep(1500 * time.Millisecond)
		look("after the first two", 2, 3)
		if err := q.Configure(Config{Workers: 1, Waiting: 2}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		look("with one again", 1, 2)
		if err := q.Configure(Config{Workers: -1}); err == nil {
			t.Error("a wrong change was taken")
		}
		if err := q.Close(t.Context()); err != nil || done.Load() != 7 {
			t.Errorf("%d done: %v", done.Load(), err)
		}
	})
}

// Observing, what has expired in the line is counted and done all the same; what
// has no place is refused.
func TestObserveDoesWhatHasExpired(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := must(t, Config{Workers: 1, Waiting: 1, Observe: true}, Work[int]{
			Do:   func(context.Context, int) { time.Sleep(time.Second) },
			Drop: func(item int, err error) { t.Errorf("%d was dropped: %v", item, err) },
		})
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		for item := range 2 {
			if err := q.Offer(ctx, item); err != nil {
				t.Error(err)
			}
		}
		if err := q.Offer(ctx, 2); !errors.Is(err, policy.Full) {
			t.Errorf("without a place: %v", err)
		}
		if err := q.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if s := q.Snapshot(); s.Done != 2 || s.Dropped != 1 || s.Refused != 1 {
			t.Errorf("%+v; want both done, and one of them counted", s)
		}
	})
}
