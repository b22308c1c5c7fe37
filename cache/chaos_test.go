package cache

import (
	"context"
	"io"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kalan-go/kalan/jitter"
)

// Whatever loaders and readers do: no load is left over, no reader waits for
// ever, and no key is blocked.
func TestChaos(t *testing.T) {
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) { chaos(t, seed) })
	}
}

func chaos(t *testing.T, seed uint64) {
	c := must(t, Config{Lifetime: 200 * ms, Timeout: 100 * ms, Failed: 20 * ms, Stale: 50 * ms, Keys: 8, Loads: 6}, unreliable(seed))
	var wg sync.WaitGroup
	for reader := range uint64(30) {
		dice := rand.New(rand.NewPCG(seed, reader))
		wg.Go(func() {
			for range 50 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(dice.IntN(150))*ms)
				begun, key := time.Now(), dice.IntN(12)
				v, err := c.Get(ctx, key)
				if waited := time.Since(begun); waited > 100*ms || (v == key) != (err == nil) && key != 0 {
					t.Errorf("key %d: %d, %v after %v", key, v, err, waited)
				}
				if dice.IntN(10) == 0 {
					c.Set(key, key)
				}
				if dice.IntN(10) == 0 {
					c.Delete(key)
				}
				cancel()
				jitter.Sleep(t.Context(), time.Duration(dice.IntN(20))*ms)
			}
		})
	}
	wg.Wait()
	jitter.Sleep(t.Context(), time.Second)
	s := c.Snapshot()
	if s.Loading != 0 || len(c.flights) != 0 || s.Keys > 8 {
		t.Errorf("seed %d: %+v, %d flights", seed, s, len(c.flights))
	}
}

// unreliable returns a loader of the key itself that fails in every way.
func unreliable(seed uint64) loader[int, int] {
	var n atomic.Uint64
	return func(ctx context.Context, key int) (int, error) {
		dice := rand.New(rand.NewPCG(seed, n.Add(1)<<32))
		d := time.Duration(dice.IntN(200)) * ms
		switch dice.IntN(6) {
		case 0:
			return 0, io.ErrUnexpectedEOF
		case 1:
			panic("unreliable")
		case 2:
			runtime.Goexit()
		case 3:
			jitter.Sleep(context.Background(), d) // minds nothing
		case 4:
			return 0, ErrMissing
		case 5:
			select {
			case <-time.After(d):
			case <-ctx.Done():
				return 0, ctx.Err()
			}
		}
		return key, nil
	}
}
