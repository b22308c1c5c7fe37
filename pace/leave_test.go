package pace

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kalan-go/kalan/policy"
)

// Whoever leaves gives back what was taken for it.
func TestWhoLeavesGivesItBack(t *testing.T) {
	for _, kind := range kinds {
		synctest.Test(t, func(t *testing.T) {
			w, numbers := kind(t, rate(10, 1))
			w.Allow()
			ctx, cancel := context.WithCancel(t.Context())
			left := make(chan error, 1)
			go func() { left <- w.Wait(ctx, 1) }()
			synctest.Wait()
			time.Sleep(30 * time.Millisecond)
			cancel()
			if r := refusal(t, <-left); r.Reason != policy.Gone || !errors.Is(r, context.Canceled) {
				t.Errorf("who left got %v", r)
			}
			begun := time.Now()
			if err := w.Wait(t.Context(), 1); err != nil || time.Since(begun) != 70*time.Millisecond {
				t.Errorf("the next came after %v with %v; want the 70 ms that were left", time.Since(begun), err)
			}
			if r := refusal(t, w.Wait(ctx, 1)); r.Reason != policy.Gone {
				t.Errorf("who had left before got %v", r)
			}
			if n := numbers(); n != [3]int{0, 2, 0} {
				t.Errorf("waiting, allowed and refused are %v; want 0, 2 and 0", n)
			}
		})
	}
}

// The turns of those behind whoever leaves stay, and whoever comes next is behind
// all of them: two in one instant would be more than the burst.
func TestWhoLeavesFromTheMiddleBunchesNobody(t *testing.T) {
	for _, kind := range kinds {
		synctest.Test(t, func(t *testing.T) {
			w, numbers := kind(t, rate(10, 1))
			ctx, cancel := context.WithCancel(t.Context())
			begun, turns := time.Now(), make(chan time.Duration, 5)
			come := func(ctx context.Context) {
				go func() {
					if w.Wait(ctx, 1) == nil {
						turns <- time.Since(begun)
					}
				}()
				synctest.Wait()
			}
			for _, ctx := range []context.Context{t.Context(), ctx, t.Context(), t.Context()} {
				come(ctx)
			}
			cancel()
			synctest.Wait()
			come(t.Context())
			for _, want := range []time.Duration{0, 200, 300, 400} {
				if got := <-turns; got != want*time.Millisecond {
					t.Errorf("a turn came after %v, want %d ms", got, want)
				}
			}
			if n := numbers(); n != [3]int{0, 4, 0} {
				t.Errorf("waiting, allowed and refused are %v; want 0, 4 and 0", n)
			}
		})
	}
}

// Whatever comes, waits and leaves: never more than the burst and what the rate
// gives since, nobody is left over, and in the end the bucket is full.
func TestChaos(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			for _, kind := range kinds {
				synctest.Test(t, func(t *testing.T) {
					w, numbers := kind(t, rate(100, 5))
					chaos(t, w, numbers, seed)
				})
			}
		})
	}
}

func chaos(t *testing.T, w waiter, numbers func() [3]int, seed uint64) {
	random := rand.New(rand.NewPCG(seed, 1))
	begun := time.Now()
	var mu sync.Mutex
	var granted []time.Duration
	var all sync.WaitGroup
	for range 300 {
		comes, stays, n := time.Duration(random.Int64N(2e9)), time.Duration(random.Int64N(2e8)), 1+random.IntN(3)
		all.Go(func() {
			time.Sleep(comes)
			ctx, cancel := context.WithTimeout(t.Context(), stays)
			defer cancel()
			if n == 1 { // leaves unforeseen
				ctx, cancel = context.WithCancel(t.Context())
				defer time.AfterFunc(stays, cancel).Stop()
			}
			if w.Wait(ctx, n) != nil {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			for range n {
				granted = append(granted, time.Since(begun))
			}
		})
	}
	all.Wait()
	slices.Sort(granted)
	for i := range granted {
		for j := range i {
			if most := 5 + 100*(granted[i]-granted[j]).Seconds() + 1e-6; float64(i-j+1) > most {
				t.Fatalf("%d calls from %v to %v", i-j+1, granted[j], granted[i])
			}
		}
	}
	if n := numbers(); n[0] != 0 {
		t.Errorf("%d still wait", n[0])
	}
	time.Sleep(time.Second)
	if err := w.Take(5); err != nil {
		t.Errorf("after a second of quiet: %v", err)
	}
}
