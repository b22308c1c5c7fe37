package limit_test

import (
	"testing"
	"time"

	"github.com/kalan-go/kalan/policy/limit"
)

// A dependency that has become quicker is not taken for one that became wider:
// the base latency is looked at again, or the limit would stay as many times too
// high as the latency was, and its callers wait for it.
func TestWhatHasBecomeQuickerIsMeasuredAnew(t *testing.T) {
	for seed := range uint64(5) {
		w := newWorld(seed+1, limit.Config{}, plain...)
		w.rate, w.upstream.workers = 600, 8
		for i := range 3 {
			w.upstream.service = []time.Duration{20 * ms, 80 * ms, 20 * ms}[i]
			w.run(10 * sec)
		}
		if s := w.limit.Snapshot(w.now); s.Max > 32 || s.Max < 8 {
			t.Errorf("seed %d: %d slots for 8 workers, base latency %v", seed+1, s.Max, s.Base)
		}
	}
}
