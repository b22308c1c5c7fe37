package cache

import (
	"context"
	"errors"
	"io"
	"math"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kalan-go/kalan/policy"
)

type loader[K comparable, V any] = func(context.Context, K) (V, error)

const ms = time.Millisecond

// after returns a loader that takes as long as told, and minds its context.
func after(d time.Duration, loads *atomic.Int64) loader[string, int] {
	return func(ctx context.Context, _ string) (int, error) {
		n := loads.Add(1)
		select {
		case <-time.After(d):
			return int(n), nil
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}

// O-26: 100 callers, the first one leaves.
func TestTheFirstCallersCancelFailsNobodyElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var loads, values, cancelled atomic.Int64
		c := must(t, Config{}, after(50*ms, &loads))
		first, cancel := context.WithCancel(t.Context())
		time.AfterFunc(10*ms, cancel)
		get := func(ctx context.Context) {
			switch v, err := c.Get(ctx, "key"); {
			case v == 1 && err == nil:
				values.Add(1)
			case errors.Is(err, context.Canceled) && errors.Is(err, policy.Gone):
				cancelled.Add(1)
			default:
				t.Errorf("got %d, %v", v, err)
			}
		}
		go get(first)
		synctest.Wait() // his is the load
		for range 99 {
			go get(t.Context())
		}
		time.Sleep(time.Second)
		if values.Load() != 99 || cancelled.Load() != 1 || loads.Load() != 1 {
			t.Errorf("%d values, %d cancelled, %d loads", values.Load(), cancelled.Load(), loads.Load())
		}
	})
}

// O-26: all 100 leave, and the load has nobody left to work for.
func TestALoadForNobodyEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var wg sync.WaitGroup
		var ended atomic.Int64
		begun := time.Now()
		c := must(t, Config{}, func(ctx context.Context, _ string) (int, error) {
			<-ctx.Done()
			ended.Store(int64(time.Since(begun)))
			return 0, ctx.Err()
		})
		ctx, cancel := context.WithTimeout(t.Context(), 10*ms)
		defer cancel()
		for range 100 {
			wg.Go(func() {
				if _, err := c.Get(ctx, "key"); !errors.Is(err, policy.Expired) || !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("got %v", err)
				}
			})
		}
		wg.Wait()
		synctest.Wait()
		if at := time.Duration(ended.Load()); at != 10*ms {
			t.Errorf("the load ended after %v", at)
		}
		if s := c.Snapshot(); s.Abandoned != 1 || s.Failures != 0 || s.Loading != 0 || s.Keys != 0 {
			t.Errorf("%+v", s)
		}
	})
}

func TestAReaderDoesNotJoinALoadThatWasAbandoned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var loads atomic.Int64
		c := must(t, Config{}, func(context.Context, string) (int, error) {
			n := loads.Add(1)
			time.Sleep(50 * ms) // it does not mind its context
			return int(n), nil
		})
		ctx, cancel := context.WithTimeout(t.Context(), 10*ms)
		defer cancel()
		c.Get(ctx, "key")
		if v, err := c.Get(t.Context(), "key"); v != 2 || err != nil {
			t.Errorf("got %d, %v", v, err)
		}
		if v, err := c.Get(t.Context(), "key"); v != 2 || err != nil {
			t.Errorf("then %d, %v: the abandoned load was kept", v, err)
		}
	})
}

// O-27: the loader panics on call 1, ten waiters have joined, call 2 is well.
func TestAPanicIsAnErrorForAllAndTheNextCallLoads(t *testing.T) {
	for name, end := range map[string]func(){
		"panic: no price":           func() { panic("no price") },
		"runtime.Goexit was called": runtime.Goexit,
	} {
		synctest.Test(t, func(t *testing.T) {
			var loads, failed atomic.Int64
			c := must(t, Config{}, func(context.Context, string) (int, error) {
				time.Sleep(20 * ms)
				if loads.Add(1) == 1 {
					end()
				}
				return 42, nil
			})
			begun := time.Now()
			var wg sync.WaitGroup
			for range 11 {
				wg.Go(func() {
					var crashed *Panic
					if _, err := c.Get(t.Context(), "key"); errors.As(err, &crashed) && strings.Contains(err.Error(), name) {
						failed.Add(1)
					}
				})
			}
			wg.Wait()
			if failed.Load() != 11 || time.Since(begun) > 100*ms {
				t.Errorf("%s: %d of 11 got the error within %v", name, failed.Load(), time.Since(begun))
			}
			if v, err := c.Get(t.Context(), "key"); v != 42 || err != nil {
				t.Errorf("%s: then %d, %v", name, v, err)
			}
			if n := c.Snapshot().Loading; n != 0 {
				t.Errorf("%s: %d loads are left", name, n)
			}
		})
	}
}

func TestReadersWaitNoLongerThanTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := make(chan struct{})
		c := must(t, Config{Timeout: 800 * ms, Loads: 1}, func(context.Context, string) (int, error) {
			<-hang // whatever its context says
			return 1, nil
		})
		begun := time.Now()
		_, err := c.Get(t.Context(), "key")
		if !errors.Is(err, policy.Timeout) || time.Since(begun) != 800*ms {
			t.Errorf("got %v after %v", err, time.Since(begun))
		}
		begun = time.Now()
		if _, err = c.Get(t.Context(), "other"); !errors.Is(err, policy.Full) || time.Since(begun) != 0 {
			t.Errorf("got %v after %v: a load that hangs keeps its place", err, time.Since(begun))
		}
		close(hang)
		synctest.Wait()
		if v, err := c.Get(t.Context(), "other"); v != 1 || err != nil {
			t.Errorf("then %d, %v", v, err)
		}
		if s := c.Snapshot(); s.Failures != 1 || s.Refused != 1 || s.Loading != 0 {
			t.Errorf("%+v", s)
		}
	})
}

func TestTheLoaderSeesItsLimitAndTheReadersValues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type key struct{}
		c := must(t, Config{Timeout: time.Second}, func(ctx context.Context, _ string) (int, error) {
			deadline, _ := ctx.Deadline()
			if left := time.Until(deadline); left != time.Second {
				t.Errorf("%v left", left)
			}
			<-ctx.Done()
			return ctx.Value(key{}).(int), ctx.Err()
		})
		ctx, cancel := context.WithTimeout(context.WithValue(t.Context(), key{}, 7), time.Hour)
		defer cancel()
		if _, err := c.Get(ctx, "key"); !errors.Is(err, policy.Timeout) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	})
}

func TestAnEndedReaderBeginsNoLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var loads atomic.Int64
		c := must(t, Config{}, after(ms, &loads))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := c.Get(ctx, "key"); !errors.Is(err, policy.Gone) || loads.Load() != 0 {
			t.Errorf("got %v after %d loads", err, loads.Load())
		}
		c.Set("key", 5)
		if v, err := c.Get(ctx, "key"); v != 5 || err != nil {
			t.Errorf("a value that is there: %d, %v", v, err)
		}
	})
}

// What was set or deleted while a load ran is newer than what it brings.
func TestALoadThatBeganBeforeIsNoNews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var loads atomic.Int64
		c := must(t, Config{}, after(50*ms, &loads))
		for _, test := range []struct {
			change     func()
			now, later int
		}{
			{func() { c.Set("key", 100) }, 1, 100},
			{func() { c.Delete("key") }, 2, 3},
		} {
			c.Delete("key")
			time.AfterFunc(10*ms, test.change)
			if v, err := c.Get(t.Context(), "key"); v != test.now || err != nil {
				t.Errorf("who waited got %d, %v, want %d", v, err, test.now)
			}
			if v, err := c.Get(t.Context(), "key"); v != test.later || err != nil {
				t.Errorf("the next got %d, %v, want %d", v, err, test.later)
			}
		}
	})
}

func TestADeletedValueIsNotServedInPlaceOfAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := must(t, Config{Spread: -1}, func(context.Context, string) (int, error) {
			time.Sleep(50 * ms)
			return 0, io.ErrUnexpectedEOF
		})
		c.Set("key", 1)
		time.Sleep(300 * time.Second)
		time.AfterFunc(10*ms, func() { c.Delete("key") })
		if v, err := c.Get(t.Context(), "key"); err != io.ErrUnexpectedEOF {
			t.Errorf("got %d, %v", v, err)
		}
	})
}

// eager is a configuration under which every reader of a value that took time
// to load refreshes it.
func eager(lifetime time.Duration) Config {
	return Config{Lifetime: lifetime, Spread: -1, Beta: 1000}
}

// A refresh has no reader to begin with, so none who leaves ends it.
func TestARefreshOutlivesThoseWhoJoinIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var loads atomic.Int64
		c := must(t, eager(60*ms), after(100*ms, &loads))
		c.Get(t.Context(), "key")
		c.Get(t.Context(), "key") // begins a refresh
		time.Sleep(60 * ms)       // the value has ended
		ctx, cancel := context.WithTimeout(t.Context(), 10*ms)
		defer cancel()
		if _, err := c.Get(ctx, "key"); !errors.Is(err, policy.Expired) {
			t.Errorf("who joined and left got %v", err)
		}
		time.Sleep(30 * ms)
		if v, err := c.Get(t.Context(), "key"); v != 2 || err != nil {
			t.Errorf("the refresh brought %d, %v", v, err)
		}
		if s := c.Snapshot(); s.Abandoned != 0 || s.Refreshes < 1 || loads.Load() > 3 {
			t.Errorf("%+v", s)
		}
		time.Sleep(time.Second)
	})
}

func TestAFailedRefreshIsNotTriedAgainAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		loads := 0
		c := must(t, eager(10*time.Second), func(context.Context, string) (int, error) {
			time.Sleep(10 * ms)
			if loads++; loads > 1 {
				return 0, io.ErrUnexpectedEOF
			}
			return 1, nil
		})
		for range 300 { // three seconds
			if v, err := c.Get(t.Context(), "key"); v != 1 || err != nil {
				t.Errorf("got %d, %v", v, err)
			}
			time.Sleep(10 * ms)
		}
		if loads < 3 || loads > 5 {
			t.Errorf("%d loads in three seconds, want one a second", loads)
		}
	})
}

// Between a reader's look and his turn at the lock, a load may have landed.
func TestWhatHasLandedMeanwhileIsNotLoadedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var loads atomic.Int64
		c := must(t, Config{}, after(0, &loads))
		c.Set("key", 1)
		seen := c.lookup("key")
		c.Set("key", 2)
		c.freshen(t.Context(), "key", seen)
		if f, item := c.join(t.Context(), "key"); f != nil || item != c.lookup("key") {
			t.Errorf("joined %+v, item %+v", f, item)
		}
		if n := loads.Load(); n != 0 {
			t.Errorf("%d loads", n)
		}
	})
}

// Whether the loader or the limit is first at that instant, the reader hears of
// the limit.
func TestALoaderThatMindsItsLimitTimesOutToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := must(t, Config{}, func(ctx context.Context, _ int) (int, error) {
			<-ctx.Done()
			return 0, ctx.Err()
		})
		var wg sync.WaitGroup
		for key := range 300 {
			wg.Go(func() {
				if _, err := c.Get(t.Context(), key); !errors.Is(err, policy.Timeout) {
					t.Errorf("key %d: %v", key, err)
				}
			})
		}
		wg.Wait()
	})
}

// A NaN equals nothing, itself included: as a key it would stay for ever.
func TestAKeyThatEqualsNothingIsNotKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := must(t, Config{}, func(context.Context, float64) (int, error) { return 1, nil })
		for range 10 {
			if v, err := c.Get(t.Context(), math.NaN()); v != 1 || err != nil {
				t.Errorf("got %d, %v", v, err)
			}
		}
		c.Set(math.NaN(), 2)
		c.Delete(math.NaN())
		synctest.Wait()
		if s := c.Snapshot(); s.Loads != 10 || s.Keys != 0 || len(c.flights) != 0 {
			t.Errorf("%+v and %d flights", s, len(c.flights))
		}
	})
}
