package handoff

import (
	"context"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kalan-go/kalan/jitter"
)

// Whatever the work does, and whenever the queue is closed: each item that was
// accepted ends exactly once, and nothing is left.
func TestChaos(t *testing.T) {
	for seed := range uint64(30) {
		synctest.Test(t, func(t *testing.T) { chaos(t, seed) })
	}
}

func chaos(t *testing.T, seed uint64) {
	var ends [400]atomic.Int32
	q := must(t, Config{Workers: 3, Waiting: 10}, Work[int]{
		Do: func(ctx context.Context, item int) {
			dice := rand.New(rand.NewPCG(seed, uint64(item)))
			jitter.Sleep([]context.Context{ctx, context.Background()}[item%2], time.Duration(dice.IntN(30))*ms)
			switch dice.IntN(4) {
			case 0:
				panic("chaos")
			case 1:
				runtime.Goexit()
			}
			ends[item].Add(1)
		},
		Drop: func(item int, _ error) { ends[item].Add(1) },
	})
	dice := rand.New(rand.NewPCG(seed, 1<<40))
	var accepted [len(ends)]bool
	for item := range ends {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(dice.IntN(60))*ms)
		defer cancel()
		accepted[item] = q.Offer(ctx, item) == nil
		jitter.Sleep(t.Context(), time.Duration(dice.IntN(10))*ms)
	}
	limit, cancel := context.WithTimeout(t.Context(), time.Duration(dice.IntN(40))*ms)
	defer cancel()
	q.Close(limit)
	q.Close(t.Context())
	count := Snapshot{}
	for item := range ends {
		if want := map[bool]int32{true: 1}[accepted[item]]; ends[item].Load() != want {
			t.Errorf("seed %d: item %d (accepted: %v) ended %d times", seed, item, accepted[item], ends[item].Load())
		}
		if !accepted[item] {
			count.Refused++
		}
	}
	s := q.Snapshot()
	if s.Running != 0 || s.Waiting != 0 || s.Refused != count.Refused || s.Done+s.Dropped+s.Panics+s.Refused != uint64(len(ends)) {
		t.Errorf("seed %d: %+v", seed, s)
	}
}
