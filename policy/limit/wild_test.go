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
// are too many for: as many come on top, and soon.
func TestHangsOfAFewHoldNobodyBack(t *testing.T) {
	for _, c := range []struct{ hangs, first, least float64 }{{.1, .9, .8}, {.2, .75, .65}} {
		sum, lowest := 0., 1.
		for seed := range uint64(10) {
			w := newHanging(seed+1, 200, c.hangs)
			served := func(d time.Duration) float64 {
				w.reset()
				w.run(d)
				return float64(w.tally.good) / (float64(w.tally.offered) * (1 - c.hangs))
			}
			cold := served(10 * sec)
			sum, lowest = sum+cold, min(lowest, cold)
			w.run(20 * sec)
			if part := served(30 * sec); seed < 5 && part < .95 {
				t.Errorf("%v hang, seed %d: %.2f of the others served, limit %d", c.hangs, seed+1, part, w.limit.Max())
			}
		}
		if sum/10 < c.first || lowest < c.least {
			t.Errorf("%v hang: %.2f of the others served in the first 10 s, %.2f at worst", c.hangs, sum/10, lowest)
		}
	}
}

// Where most hang, it may be the number.
func TestWhereMostHangNothingIsAdded(t *testing.T) {
	for seed := range uint64(10) {
		w := newHanging(seed+1, 100, .7)
		w.run(20 * sec)
		if n := w.limit.Max(); n > 30 {
			t.Errorf("seed %d: limit %d, and seven of ten are never answered", seed+1, n)
		}
	}
}

// newHanging returns a world with room for everybody, in which a part of the
// calls is never answered.
func newHanging(seed uint64, rate, hangs float64) *world {
	w := newWorld(seed, limit.Config{}, class{share: 1, deadline: sec, level: 1})
	w.rate, w.upstream.workers, w.upstream.service, w.hangs = rate, 1<<20, 20*ms, hangs
	return w
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
