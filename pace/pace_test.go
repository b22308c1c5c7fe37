package pace

import (
	"context"
	"errors"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kalan-go/kalan/policy"
)

// O-11, the half that a machine cannot have: with a rate of 0 the burst is all
// there is, and who waits for more is refused at once, without a time to come
// back.
func TestRateZeroIsNotUnlimited(t *testing.T) {
	for _, kind := range kinds {
		synctest.Test(t, func(t *testing.T) {
			w, _ := kind(t, rate(0, 1))
			if !w.Allow() {
				t.Fatal("the burst was refused")
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			begun := time.Now()
			r := refusal(t, w.Wait(ctx, 1))
			if r.Reason != policy.Rate || r.RetryAfter != 0 || time.Since(begun) != 0 {
				t.Errorf("%v after %v; want the rate, at once, for ever", r, time.Since(begun))
			}
			time.Sleep(24 * time.Hour)
			for range 1000 {
				if w.Allow() {
					t.Fatal("allowed a day later")
				}
			}
		})
	}
	for _, wrong := range []float64{-1, math.NaN(), math.Inf(1)} {
		if _, err := New(rate(wrong, 1)); err == nil {
			t.Errorf("a rate of %v was taken", wrong)
		}
		if _, err := NewSet[int](rate(wrong, 1)); err == nil {
			t.Errorf("a rate of %v was taken for a set", wrong)
		}
	}
}

// Waiters come one interval after the other, in the order in which they asked.
func TestWaitersAreSpacedAndInOrder(t *testing.T) {
	for _, kind := range kinds {
		synctest.Test(t, func(t *testing.T) {
			w, numbers := kind(t, rate(20, 1))
			begun := time.Now()
			var mu sync.Mutex
			var order []int
			var at []time.Duration
			var all sync.WaitGroup
			for n := range 10 {
				all.Go(func() {
					if err := w.Wait(t.Context(), 1); err != nil {
						t.Error(err)
					}
					mu.Lock()
					defer mu.Unlock()
					order, at = append(order, n), append(at, time.Since(begun))
				})
				synctest.Wait()
			}
			if n := numbers(); n != [3]int{9, 10, 0} {
				t.Errorf("waiting, allowed and refused are %v; want 9, 10 and 0", n)
			}
			all.Wait()
			for i := range 10 {
				if order[i] != i || at[i] != time.Duration(i)*50*time.Millisecond {
					t.Fatalf("order %v at %v", order, at)
				}
			}
			if n := numbers(); n != [3]int{0, 10, 0} {
				t.Errorf("at the end waiting, allowed and refused are %v", n)
			}
		})
	}
}

// What cannot come in time is refused at once, costs nothing, and is told when to
// come back.
func TestWhatCannotComeInTimeIsRefusedAtOnce(t *testing.T) {
	c := rate(1, 2)
	c.Wait = 10 * time.Second
	for _, kind := range kinds {
		synctest.Test(t, func(t *testing.T) {
			w, numbers := kind(t, c)
			if err := w.Take(2); err != nil {
				t.Fatal(err)
			}
			if r := refusal(t, w.Take(2)); r.Reason != policy.Rate || r.RetryAfter != 2*time.Second {
				t.Errorf("a pair too many: %v, back in %v", r, r.RetryAfter)
			}
			begun := time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if r := refusal(t, w.Wait(ctx, 1)); r.Reason != policy.Rate || r.RetryAfter != time.Second {
				t.Errorf("a turn at the deadline: %v, back in %v", r, r.RetryAfter)
			}
			if r := refusal(t, w.Wait(t.Context(), 3)); r.RetryAfter != 0 {
				t.Errorf("more than the burst: back in %v, and it is never", r.RetryAfter)
			}
			for range 5 { // two at a time, the last of them after ten seconds
				go func() { _ = w.Wait(t.Context(), 2) }()
			}
			synctest.Wait()
			if r := refusal(t, w.Wait(t.Context(), 1)); r.Reason != policy.Rate || r.RetryAfter != 11*time.Second {
				t.Errorf("longer than Wait: %v, back in %v", r, r.RetryAfter)
			}
			if time.Since(begun) != 0 {
				t.Errorf("the refusals took %v", time.Since(begun))
			}
			time.Sleep(20 * time.Second)
			if n := numbers(); n != [3]int{0, 6, 4} {
				t.Errorf("waiting, allowed and refused are %v; want 0, 6 and 4", n)
			}
		})
	}
}

// Where nobody may wait, whoever comes while others are asking is not taken for
// one who would have to.
func TestNobodyIsFullWhileThereIsSome(t *testing.T) {
	c := rate(1e9, 1<<20)
	c.Waiting = -1
	for _, kind := range kinds {
		w, _ := kind(t, c)
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				for range 5000 {
					if err := w.Wait(t.Context(), 1); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		all.Wait()
	}
}

// As many wait as may wait; one more is refused as full, and nothing is taken for
// it.
func TestTheWaitersAreBounded(t *testing.T) {
	for waiting, want := range map[int]int{0: 20, 2: 2, -1: 0} {
		c := rate(10, 1)
		c.Waiting, c.Wait = waiting, time.Minute
		for _, kind := range kinds {
			synctest.Test(t, func(t *testing.T) {
				w, numbers := kind(t, c)
				w.Allow()
				var full atomic.Int64
				var back sync.Map // after how long they may come again
				for range 20 {
					go func() {
						if err := w.Wait(t.Context(), 1); errors.Is(err, policy.Full) {
							full.Add(1)
							back.Store(refusal(t, err).RetryAfter, nil)
						} else if err != nil {
							t.Error(err)
						}
					}()
				}
				synctest.Wait()
				if n := numbers(); int(full.Load()) != 20-want || n != [3]int{want, 1 + want, 20 - want} {
					t.Errorf("of %d places: %d full; waiting, allowed and refused are %v", waiting, full.Load(), n)
				}
				turn, different := time.Duration(want+1)*100*time.Millisecond, 0
				back.Range(func(key, _ any) bool {
					if after := key.(time.Duration); after < turn || after > turn+turn/2 {
						t.Errorf("whoever finds no place is to come back in %v; the next turn is in %v", after, turn)
					}
					different++
					return true
				})
				if want < 20 && different < 10 {
					t.Errorf("%d of %d times to come back are different", different, full.Load())
				}
				time.Sleep(turn)
				if !w.Allow() {
					t.Error("something was taken for those who were refused")
				}
			})
		}
	}
}

// A negative Wait is none, and so is the time of somebody whose own is up.
func TestNobodyWaitsWhoIsNotTo(t *testing.T) {
	c := rate(1, 1)
	c.Wait = -1
	for _, kind := range kinds {
		synctest.Test(t, func(t *testing.T) {
			w, _ := kind(t, c)
			if err := w.Wait(t.Context(), 1); err != nil {
				t.Errorf("what is there is given without a wait: %v", err)
			}
			if r := refusal(t, w.Wait(t.Context(), 1)); r.Reason != policy.Rate || r.RetryAfter != time.Second {
				t.Errorf("%v, back in %v", r, r.RetryAfter)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			time.Sleep(2 * time.Second)
			if r := refusal(t, w.Wait(ctx, 1)); r.Reason != policy.Expired || !w.Allow() {
				t.Errorf("whose time was up got %v, and it cost something", r)
			}
		})
	}
}

// A change keeps what is left of the burst, and the turns that were given.
func TestConfigureKeepsWhatIsLeft(t *testing.T) {
	for _, kind := range kinds {
		synctest.Test(t, func(t *testing.T) {
			w, _ := kind(t, rate(1, 10))
			if err := w.Take(8); err != nil {
				t.Fatal(err)
			}
			if err := w.Configure(rate(2, 4)); err != nil {
				t.Fatal(err)
			}
			if err := w.Take(2); err != nil {
				t.Errorf("the two that were left are gone: %v", err)
			}
			begun := time.Now()
			turn := make(chan time.Duration, 1)
			go func() { _ = w.Wait(t.Context(), 1); turn <- time.Since(begun) }()
			synctest.Wait()
			if err := w.Configure(rate(.001, 4)); err != nil {
				t.Fatal(err)
			}
			if got := <-turn; got != time.Second/2 {
				t.Errorf("the turn came after %v, want 500ms", got)
			}
			if err := w.Configure(rate(-1, 4)); err == nil || w.Allow() {
				t.Errorf("a wrong change: %v", err)
			}
		})
	}
}

func TestObserveRefusesNothing(t *testing.T) {
	c := rate(1, 1)
	c.Observe, c.Waiting = true, -1
	for _, kind := range kinds {
		synctest.Test(t, func(t *testing.T) {
			w, numbers := kind(t, c)
			for range 3 {
				if !w.Allow() || w.Take(1) != nil {
					t.Fatal("refused")
				}
			}
			begun := time.Now()
			for n := range 3 { // one that there will be, and more than there ever are
				if err := w.Wait(t.Context(), n); err != nil || time.Since(begun) != 0 {
					t.Errorf("%d: waited %v: %v", n, time.Since(begun), err)
				}
			}
			if n := numbers(); n != [3]int{0, 2, 7} {
				t.Errorf("waiting, allowed and refused are %v; want 0, 2 and 7", n)
			}
		})
	}
}

func TestManyAtOnceTakeNoMoreThanThereIs(t *testing.T) {
	l, s := must(t, rate(0, 100)), mustSet[int](t, rate(0, 100))
	var taken [2]atomic.Int64
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 100 {
				if l.Allow() {
					taken[0].Add(1)
				}
				if s.Allow(1) {
					taken[1].Add(1)
				}
				_, _ = l.Snapshot(), s.Snapshot()
			}
		})
	}
	all.Wait()
	if taken[0].Load() != 100 || taken[1].Load() != 100 {
		t.Errorf("%d and %d of 100 taken", taken[0].Load(), taken[1].Load())
	}
}

func TestAskingAllocatesNothing(t *testing.T) {
	l, s := must(t, rate(1e9, 1000)), mustSet[string](t, rate(1e9, 1000))
	keys := [...]string{"a", "b", "c"}
	i := 0
	if n := testing.AllocsPerRun(1000, func() {
		i++
		if !l.Allow() || !s.Allow(keys[i%len(keys)]) {
			t.Fatal("refused")
		}
		if l.Wait(t.Context(), 1) != nil || s.Wait(t.Context(), keys[0], 1) != nil {
			t.Fatal("refused")
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
