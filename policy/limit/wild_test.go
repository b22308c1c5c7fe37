package limit_test

import (
	"testing"
	"time"

	"github.com/kalan-go/kalan/policy/limit"
)

// Where one call of ten takes forty times as long as the others, a few quick
// ones are no proof that the dependency needs one slot.
func TestWildDependencyKeepsItsSlots(t *testing.T) {
	for seed := range uint64(5) {
		w := newWild(seed + 1)
		w.run(10 * sec)
		short, all := 0, 0
		w.each = func(w *world) {
			if all++; w.limit.Max() < 4 {
				short++
			}
		}
		w.run(30 * sec)
		if short*5 > all {
			t.Errorf("seed %d: fewer slots than the dependency has workers at %d of %d events", seed+1, short, all)
		}
	}
}

// Where one kind of call hangs, the slots that it holds are not what the others
// are too many for: as many come on top.
func TestHangsOfAFewHoldNobodyBack(t *testing.T) {
	for _, hangs := range []float64{.1, .2} {
		for seed := range uint64(5) {
			w := newWorld(seed+1, limit.Config{}, class{share: 1, deadline: sec, level: 1})
			w.rate, w.upstream.workers, w.upstream.service, w.hangs = 200, 1<<20, 20*ms, hangs
			w.run(30 * sec) // cold
			w.reset()
			w.run(30 * sec)
			if all := float64(w.tally.offered) * (1 - hangs); float64(w.tally.good) < .95*all {
				t.Errorf("%v hang, seed %d: %d of %.0f others served, limit %d", hangs, seed+1, w.tally.good, all, w.limit.Max())
			}
		}
	}
}

// Its floor gives way when it hangs, and when its times become steady.
func TestWildnessEnds(t *testing.T) {
	w := newWild(1)
	w.run(10 * sec)
	w.rate = 0
	w.run(sec)
	hang(w.limit, w.now, 20*sec)
	if n := w.limit.Max(); n > 2 {
		t.Errorf("limit %d after twenty seconds without an answer", n)
	}
	w = newWild(2)
	w.run(10 * sec)
	w.upstream.law, w.upstream.service, w.upstream.workers = always, 20*ms, 2
	w.run(20 * sec)
	if n := w.limit.Max(); n > 6 {
		t.Errorf("limit %d for two steady workers", n)
	}
}

func newWild(seed uint64) *world {
	w := newWorld(seed, limit.Config{}, class{share: 1, deadline: 600 * time.Millisecond, level: 1})
	w.rate, w.upstream.workers, w.upstream.law = 326, 4, bimodal
	return w
}
