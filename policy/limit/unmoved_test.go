package limit_test

import (
	"testing"
	"time"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/limit"
)

// An error that comes at once is no quick answer: however many there are, they
// change neither the limit nor what is known of the latency.
func TestQuickFailuresAreNoQuickService(t *testing.T) {
	for _, kind := range adapting {
		t.Run(kind.String(), func(t *testing.T) {
			w := newWorld(1, limit.Config{Kind: kind}, plain...)
			w.upstream.workers, w.upstream.service, w.rate = 4, 20*ms, 400
			w.run(10 * sec)
			w.rate = 0
			w.run(sec)
			before := w.limit.Snapshot(w.now)
			now := w.now
			for range 1000 {
				var tokens [5]limit.Token
				for i := range tokens {
					tokens[i] = w.limit.Take(now)
				}
				now = now.Add(ms)
				for i := range tokens {
					w.limit.Give(now, &tokens[i], limit.Sample{Outcome: policy.Failure, Remaining: 200 * ms})
				}
			}
			after := w.limit.Snapshot(now)
			if after.Taken != before.Taken+5000 {
				t.Errorf("%d slots were taken, want 5000", after.Taken-before.Taken)
			}
			if after.Counts = before.Counts; after != before {
				t.Errorf("after quick failures:\n%+v\nbefore:\n%+v", after, before)
			}
		})
	}
}

// A limit that is not used does not grow: an hour at a tenth of the load says
// nothing of what a dependency could bear.
func TestAnUnusedLimitDoesNotGrow(t *testing.T) {
	for _, kind := range adapting {
		t.Run(kind.String(), func(t *testing.T) {
			w := newWorld(1, limit.Config{Kind: kind}, plain...)
			w.upstream.workers, w.upstream.service, w.rate = 16, 10*ms, 1600
			w.run(20 * sec)
			w.rate = 100
			w.run(sec)
			before, highest := w.limit.Max(), 0
			w.each = func(w *world) { highest = max(highest, w.limit.Max()) }
			w.run(10 * time.Minute)
			if highest > before+before/10+1 { // a round was under way
				t.Errorf("the limit has grown from %d to %d while one call was in flight", before, highest)
			}
		})
	}
}

// F17: a limit that is reached is what makes the callers wait, and is not found
// too high although the p99 has doubled.
func TestALimitThatIsReachedIsNotTooHigh(t *testing.T) {
	w := newWorld(1, limit.Fixed(10), class{share: 1, deadline: time.Minute, level: 1})
	w.upstream.workers, w.upstream.service, w.rate = 4, 20*ms, 20
	w.run(30 * sec)
	w.rate = 220
	w.run(30 * sec)
	if s := w.limit.Snapshot(w.now); s.TooHigh || s.P99 < 2*s.Calm {
		t.Errorf("the p99 is %v, %v in calm times, at a limit of %d that is reached: too high: %v", s.P99, s.Calm, s.Max, s.TooHigh)
	}
}

// A dependency that has become slower for good is not congested for ever: what a
// call takes that waits for no other is measured anew.
func TestSlowerForGoodIsLearned(t *testing.T) {
	for _, kind := range adapting {
		t.Run(kind.String(), func(t *testing.T) {
			w := newWorld(1, limit.Config{Kind: kind}, plain...)
			w.upstream.workers, w.upstream.service, w.rate = 64, 10*ms, 4800
			w.run(20 * sec)
			w.upstream.service, w.rate = 60*ms, 800
			w.run(5 * time.Minute)
			w.reset()
			w.run(time.Minute)
			if w.tally.refused*100 > w.tally.offered {
				t.Errorf("%d of %d refused at .75x, with a limit of %d", w.tally.refused, w.tally.offered, w.limit.Max())
			}
		})
	}
}
