package cache

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// F7: 200 readers a second of a value that takes 100 ms to load. After the
// first load nobody waits, though the value ends twelve times.
func TestPopularValuesAreRefreshedBeforeTheyEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var loads, waited atomic.Int64
		c := must(t, Config{Lifetime: 5 * time.Second}, after(100*ms, &loads))
		c.Get(t.Context(), "price")
		var wg sync.WaitGroup
		for range 60 * 200 {
			wg.Go(func() {
				begun := time.Now()
				if _, err := c.Get(t.Context(), "price"); err != nil {
					t.Error(err)
				}
				if time.Since(begun) > 0 {
					waited.Add(1)
				}
			})
			time.Sleep(5 * ms)
		}
		wg.Wait()
		time.Sleep(time.Second) // a last refresh may be on its way
		s := c.Snapshot()
		if waited.Load() > 40 { // a reader of two thousand draws too late, and then those of 100 ms
			t.Errorf("%d of %d readers waited", waited.Load(), 60*200)
		}
		if n := loads.Load(); n < 11 || n > 20 || s.Refreshes < uint64(n)-3 {
			t.Errorf("%d loads of a value that lives 5 s, in a minute: %+v", n, s)
		}
	})
}

func TestStaleOnErrorIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		down := false
		var loads int
		c := must(t, Config{Lifetime: 10 * time.Second, Spread: -1, Stale: 5 * time.Second}, func(context.Context, string) (int, error) {
			if loads++; down {
				return 0, io.ErrUnexpectedEOF
			}
			return loads, nil
		})
		want := func(value int, wrong error, after int) {
			t.Helper()
			if v, err := c.Get(t.Context(), "key"); v != value || err != wrong || loads != after {
				t.Errorf("got %d, %v after %d loads; want %d, %v after %d", v, err, loads, value, wrong, after)
			}
		}
		want(1, nil, 1)
		down = true
		time.Sleep(10 * time.Second) // it ends
		want(1, nil, 2)              // cannot be loaded: stale
		want(1, nil, 2)              // nobody tries again at once
		time.Sleep(time.Second)
		want(1, nil, 3)
		time.Sleep(4 * time.Second) // 5 s behind its end: no longer better than an error
		want(0, io.ErrUnexpectedEOF, 4)
		want(0, io.ErrUnexpectedEOF, 4)
		down = false
		time.Sleep(time.Second)
		want(5, nil, 5)
		if s := c.Snapshot(); s.Stale != 3 || s.Failures != 3 {
			t.Errorf("%+v", s)
		}
	})
}

func TestWhatIsMissingIsRememberedForAShorterTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wrong := fmt.Errorf("item 7: %w", ErrMissing)
		for _, test := range []struct {
			config Config
			loads  uint64
		}{
			{Config{}, 3},             // at 0 s, 36 s and 72 s at the latest
			{Config{Missing: -1}, 90}, // each time
			{Config{Missing: time.Hour}, 1},
		} {
			c := must(t, test.config, func(context.Context, int) (int, error) { return 0, wrong })
			for range 90 {
				if _, err := c.Get(t.Context(), 7); err != wrong {
					t.Errorf("got %v", err)
				}
				time.Sleep(time.Second)
			}
			if s := c.Snapshot(); s.Loads < test.loads || s.Loads > test.loads+1 || s.Failures != 0 {
				t.Errorf("%+v: %+v, want %d loads", test.config, s, test.loads)
			}
		}
	})
}

func TestAMissingValueReplacesTheOldOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := must(t, Config{Lifetime: time.Second}, func(context.Context, int) (int, error) { return 0, ErrMissing })
		c.Set(7, 1)
		time.Sleep(2 * time.Second)
		if v, err := c.Get(t.Context(), 7); !errors.Is(err, ErrMissing) {
			t.Errorf("got %d, %v", v, err)
		}
	})
}

// F2, in the cache: values loaded together do not end together.
func TestLifetimesAreSpread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var loads atomic.Int64
		c := must(t, Config{Beta: -1}, func(context.Context, int) (int, error) { return int(loads.Add(1)), nil })
		for key := range 1000 {
			c.Get(t.Context(), key)
		}
		epoch := time.Now()
		for time.Since(epoch) < 361*time.Second {
			before := loads.Load()
			for key := range 1000 {
				c.Get(t.Context(), key)
			}
			if n, at := loads.Load()-before, time.Since(epoch); n > 30 || n > 0 && at < 240*time.Second {
				t.Errorf("%d of 1000 values ended together after %v", n, at)
			}
			time.Sleep(time.Second)
		}
		if n := loads.Load(); n != 2000 {
			t.Errorf("%d loads, want each value twice", n)
		}
	})
}

func TestWrongConfigurationsAreRefusedWhole(t *testing.T) {
	nan := math.NaN()
	_, err := New(Config{Name: "prices", Lifetime: -1, Spread: nan, Beta: nan, Timeout: -1, Loads: -1, Keys: -1}, func(context.Context, int) (int, error) { return 0, nil })
	want := `cache prices:
lifetime: -1ns is negative; write a duration such as 5s, or leave it out
spread: NaN is out of range; write a number from 0 to 1
beta: NaN is out of range; write a number from 0 to 1000
timeout: -1ns is negative; write a duration such as 5s, or leave it out
loads: -1 is out of range; write a number from 1 to 1073741824
keys: -1 is out of range; write a number from 1 to 1073741824`
	if err == nil || err.Error() != want {
		t.Errorf("got:\n%v\nwant:\n%s", err, want)
	}
	_, err = NewOver[int, int](Config{Name: "prices", Keys: -1}, nil, nil)
	if err == nil || err.Error() != "cache prices:\nkeys: -1 is out of range; write a number from 1 to 1073741824\nstore: is missing; give one, or take New\nload: is missing; give a function" {
		t.Error(err)
	}
	for _, config := range []Config{{}, {Spread: -1, Beta: -1, Stale: -1, Missing: -1, Failed: -1}, {Lifetime: 1}} {
		if problems := config.Validate().Err(); problems != nil {
			t.Errorf("%+v: %v", config, problems)
		}
		if d := config.WithDefaults(); d != d.WithDefaults() {
			t.Errorf("%+v: the defaults of the defaults are others", config)
		}
	}
	if w := (Config{Failed: time.Hour}).Validate().Error(); w != "failed: 1h0m0s is longer than the lifetime of 5m0s: a failure is remembered longer than a value; write a shorter one" {
		t.Error(w)
	}
}

func TestAHitAllocatesNothing(t *testing.T) {
	c := must(t, Config{}, func(context.Context, string) (int, error) { return 1, nil })
	c.Set("key", 1)
	ctx := t.Context()
	if n := testing.AllocsPerRun(1000, func() { c.Get(ctx, "key") }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkHit(b *testing.B) {
	c := must(b, Config{}, func(context.Context, string) (int, error) { return 1, nil })
	c.Get(b.Context(), "key")
	b.ReportAllocs()
	for b.Loop() {
		c.Get(b.Context(), "key")
	}
}

func BenchmarkHitParallel(b *testing.B) {
	c := must(b, Config{}, func(context.Context, int) (int, error) { return 1, nil })
	for key := range 1024 {
		c.Get(b.Context(), key)
	}
	b.RunParallel(func(pb *testing.PB) {
		for key := 0; pb.Next(); key++ {
			c.Get(context.Background(), key%1024)
		}
	})
}
