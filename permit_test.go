package kalan_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/breaker"
)

// O-02: eight waiters time out at the very instant at which eight slots come
// free, a thousand times. Whoever is first, no slot is lost.
func TestGrantAndTimeoutAtTheSameInstant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := guard(t, slots(8))
		var granted, timedOut atomic.Int32
		for range 1000 {
			occupy(g, 8, 50*ms)
			var waiters sync.WaitGroup
			for range 8 {
				waiters.Go(func() {
					if _, err := kalan.Do(t.Context(), g, nothing); err == nil {
						granted.Add(1)
					} else if errors.Is(err, policy.Waited) {
						timedOut.Add(1)
					}
				})
			}
			waiters.Wait()
			time.Sleep(ms)
		}
		idle(t, g)
		admitsExactly(t, g, 8)
		if t.Logf("%d granted, %d timed out", granted.Load(), timedOut.Load()); granted.Load()+timedOut.Load() != 8000 {
			t.Error("8000 waiters ended in some other way")
		}
	})
}

// The same with callers that cancel at that instant: the grant goes on to who
// stays, or nobody, and the slot is never lost.
func TestGrantAndCancelAtTheSameInstant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := guard(t, slots(2))
		var granted, gone atomic.Int32
		for range 1000 {
			ctx, cancel := context.WithCancel(t.Context())
			occupy(g, 2, 20*ms)
			var waiters sync.WaitGroup
			for range 4 {
				waiters.Go(func() {
					if _, err := kalan.Do(ctx, g, nothing); err == nil {
						granted.Add(1)
					} else if errors.Is(err, policy.Gone) && errors.Is(err, context.Canceled) {
						gone.Add(1)
					}
				})
			}
			time.Sleep(20 * ms)
			cancel()
			waiters.Wait()
			time.Sleep(ms)
		}
		idle(t, g)
		admitsExactly(t, g, 2)
		if t.Logf("%d granted, %d gone", granted.Load(), gone.Load()); granted.Load()+gone.Load() != 4000 {
			t.Error("4000 waiters ended in some other way")
		}
	})
}

// The same one nanosecond apart: all granted, or all timed out.
func TestGrantJustBeforeAndJustAfterTheTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := guard(t, slots(1))
		for _, test := range []struct {
			hold time.Duration
			want error
		}{{50*ms - 1, nil}, {50 * ms, policy.Waited}, {50*ms + 1, policy.Waited}} {
			for range 100 {
				occupy(g, 1, test.hold)
				if _, err := kalan.Do(t.Context(), g, nothing); !errors.Is(err, test.want) {
					t.Fatalf("a slot free after %v: %v, want %v", test.hold, err, test.want)
				}
				time.Sleep(ms)
			}
		}
		idle(t, g)
	})
}

// A waiter that cancels is back at once, and not when its wait would have ended.
func TestAWaiterLeavesAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := guard(t, slots(1))
		_, held, _ := kalan.Hold(t.Context(), g, kalan.Way[int]{}, nothing)
		for name, call := range modes {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(20*ms, cancel)
			start := time.Now()
			if err := call(ctx, g, nothing); !errors.Is(err, policy.Gone) || time.Since(start) != 20*ms {
				t.Errorf("%s: back after %v with %v", name, time.Since(start), err)
			}
		}
		held.Release(policy.Success)
		idle(t, g)
	})
}

// O-03: a function that fails, panics or exits gives its slot back, every time.
func TestTheSlotComesBackHoweverItEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := guard(t, all(slots(5), once, func(c *kalan.Config) { c.Breaker.Mode = breaker.Disabled }))
		for name, end := range endings {
			for range 100 {
				if got := ending(func() { _, _ = kalan.Do(t.Context(), g, end) }); got != name {
					t.Fatalf("a function that %s %s", name, got)
				}
			}
			idle(t, g)
			admitsExactly(t, g, 5)
		}
	})
}

// endings are the ways a function can end without a value.
var endings = map[string]func(context.Context) (int, error){
	"returns": func(context.Context) (int, error) { return 0, errBusiness },
	"panics":  func(context.Context) (int, error) { panic("a bug") },
	"exits":   func(context.Context) (int, error) { runtime.Goexit(); return 0, nil },
}

// ending runs f on a goroutine of its own and says how it ended.
func ending(f func()) string {
	how := make(chan string)
	go func() {
		got := "exits"
		defer func() {
			if p := recover(); p == "a bug" {
				got = "panics"
			} else if p != nil {
				panic(p)
			}
			how <- got
		}()
		f()
		got = "returns"
	}()
	return <-how
}

// O-25: work that does not stop keeps its slot and no more than that; its
// callers are back on time, and beyond the cap new calls are refused at once.
func TestAbandonedWorkIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := guard(t, all(slots(20), once, noWait, func(c *kalan.Config) {
			c.Exchange, c.Breaker.Mode, c.Rate = 100*ms, breaker.Disabled, 0
		}))
		before := runtime.NumGoroutine()
		admitted, refused := 0, 0
		for range 1000 {
			start := time.Now()
			_, _, err := kalan.Hold(t.Context(), g, kalan.Way[int]{Leave: true}, takes(10*time.Second))
			took := time.Since(start)
			switch {
			case errors.Is(err, policy.Timeout) && took == 100*ms:
				admitted++
			case errors.Is(err, policy.Full) && took == 0:
				refused++
			default:
				t.Fatalf("back after %v with %v", took, err)
			}
			if n := runtime.NumGoroutine(); n > before+20+10 {
				t.Fatalf("%d goroutines, %d at the start", n, before)
			}
			if s := g.Snapshot(); s.InFlight > 20 {
				t.Fatalf("%d in flight", s.InFlight)
			}
			time.Sleep(10*ms - took%(10*ms))
		}
		t.Logf("%d admitted and abandoned, %d refused", admitted, refused)
		if admitted < 20 || refused < 500 {
			t.Error("the test did not fill the slots")
		}
		time.Sleep(11 * time.Second)
		idle(t, g)
		admitsExactly(t, g, 20)
	})
}
