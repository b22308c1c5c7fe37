package cut

import (
	"context"
	"io"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kalan-go/kalan/jitter"
)

// Whatever functions and callers do: callers are back on time, no more
// functions run than there are workers, and at the end every slot is free.
func TestChaos(t *testing.T) {
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) { chaos(t, seed) })
	}
}

func chaos(t *testing.T, seed uint64) {
	p := must(t, Config{Workers: 4, Waiting: 2, Timeout: 50 * ms})
	var wg sync.WaitGroup
	for caller := range uint64(12) {
		dice := rand.New(rand.NewPCG(seed, caller))
		wg.Go(func() {
			for range 50 {
				ask(t, p, dice)
				jitter.Sleep(t.Context(), time.Duration(dice.IntN(40))*ms)
			}
		})
	}
	wg.Wait()
	jitter.Sleep(t.Context(), time.Second)
	if s := p.Snapshot(); s.Running != 0 || s.Zombies != 0 || s.Waiting != 0 || s.Late != s.Cut {
		t.Errorf("seed %d: %+v", seed, s)
	}
}

// ask makes one call that may end in every way.
func ask(t *testing.T, p *Pool, dice *rand.Rand) {
	begun := time.Now()
	ended := make(chan struct{})
	d, kind := time.Duration(dice.IntN(100))*ms, dice.IntN(5)
	ctx, cancel := context.WithTimeout(t.Context(), time.Duration(dice.IntN(80))*ms)
	defer cancel()
	go func() { // of its own, for Goexit
		defer close(ended)
		defer func() { recover() }()
		Do(ctx, p, func(ctx context.Context) (int, error) { return misbehave(ctx, kind, d) })
	}()
	<-ended
	if s := p.Snapshot(); s.Running > 4 || s.Zombies > s.Running || s.Waiting > 2 {
		t.Errorf("%+v", s)
	}
	if took := time.Since(begun); took > 50*ms {
		t.Errorf("a caller was held for %v", took)
	}
}

func misbehave(ctx context.Context, kind int, d time.Duration) (int, error) {
	switch kind {
	case 0:
		return 0, jitter.Sleep(ctx, d)
	case 1:
		jitter.Sleep(context.Background(), d)
		panic("misbehaved")
	case 2:
		jitter.Sleep(context.Background(), d)
		runtime.Goexit()
	case 3:
		return 0, io.ErrUnexpectedEOF
	}
	return 1, jitter.Sleep(context.Background(), d)
}
