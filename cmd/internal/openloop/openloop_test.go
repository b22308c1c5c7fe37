package openloop

import (
	"context"
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kalan-go/kalan/policy/span"
)

// O-40: a freeze of ten seconds is seen by everybody who would have asked, and
// not by the one who happened to be asking.
func TestAStallIsSeenByEveryArrival(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		thaw := start.Add(30 * time.Second)
		server := func(_ context.Context, shot Shot) Outcome {
			if now := time.Now(); now.Sub(start) >= 20*time.Second && now.Before(thaw) {
				time.Sleep(time.Until(thaw))
			}
			time.Sleep(time.Millisecond)
			return InTime
		}
		var tally Tally
		Load{Rate: 100, For: time.Minute, Patience: span.Range{Min: time.Minute, Max: time.Minute}}.Run(t.Context(), server, tally.Hear)

		if got := tally.Total(); got != 6000 {
			t.Errorf("%d samples, want 6000", got)
		}
		for q, want := range map[float64]time.Duration{.5: time.Millisecond, .9: 4 * time.Second, .99: 9400 * time.Millisecond} {
			if got := tally.Quantile(InTime, q); math.Abs(got.Seconds()/want.Seconds()-1) > .05 {
				t.Errorf("p%g is %v, want %v", q*100, got, want)
			}
		}
	})
}

func TestDeadlineAndLatencyCountFromTheSchedule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []Result
		hang := func(ctx context.Context, _ Shot) Outcome {
			<-ctx.Done()
			return Late
		}
		start := time.Now()
		Load{Rate: 2, For: time.Second, Patience: span.Range{Min: 800 * time.Millisecond, Max: 800 * time.Millisecond}}.
			Run(t.Context(), hang, func(r Result) { got = append(got, r) })

		if len(got) != 2 {
			t.Fatalf("%d results, want 2", len(got))
		}
		for n, r := range got {
			due := start.Add(time.Duration(n) * 500 * time.Millisecond)
			if !r.Shot.At.Equal(due) || r.Took != 800*time.Millisecond || r.Lag != 0 || r.Outcome != Late {
				t.Errorf("shot %d: %+v, want it due at %v and left after 800ms", n, r, due)
			}
		}
	})
}

func TestAnAnswerAfterTheDeadlineIsLateWhateverSendSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tally Tally
		deaf := func(context.Context, Shot) Outcome {
			time.Sleep(2 * time.Second)
			return InTime
		}
		Load{Rate: 1, For: time.Second}.Run(t.Context(), deaf, tally.Hear)
		if tally.Count(Late) != 1 {
			t.Errorf("%d late, want 1", tally.Count(Late))
		}
	})
}

func TestWhatCannotBeSentIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tally Tally
		slow := func(context.Context, Shot) Outcome {
			time.Sleep(850 * time.Millisecond)
			return InTime
		}
		// Each request takes nine arrivals, and two may be unanswered.
		Load{Rate: 10, For: time.Second, Flying: 2}.Run(t.Context(), slow, tally.Hear)
		if got := tally.Count(Unsent); got != 7 {
			t.Errorf("%d unsent, want 7: those due at 200ms to 800ms", got)
		}
		if got := tally.Total(); got != 10 {
			t.Errorf("%d results, want one for each of the 10 arrivals", got)
		}
	})
}

func TestAStoppedLoadReportsTheRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 4500*time.Millisecond)
		defer cancel()
		var tally Tally
		at := func(context.Context, Shot) Outcome { return InTime }
		start := time.Now()
		Load{Rate: 1, For: 10 * time.Second}.Run(ctx, at, tally.Hear)
		if tally.Count(InTime) != 5 || tally.Count(Unsent) != 5 {
			t.Errorf("%d in time, %d unsent, want 5 and 5", tally.Count(InTime), tally.Count(Unsent))
		}
		if took := time.Since(start); took != 4500*time.Millisecond {
			t.Errorf("stopped after %v", took)
		}
	})
}

func TestTheSameLoadArrivesTheSameWay(t *testing.T) {
	load := Load{Rate: 50, For: 20 * time.Second, Poisson: true, Seed: 7, Patience: span.Range{Min: 800 * time.Millisecond, Max: time.Second}}
	first, second := schedule(load), schedule(load)
	if !slices.Equal(first, second) {
		t.Error("two schedules of one load differ")
	}
	if n := len(first); n < 900 || n > 1100 {
		t.Errorf("%d arrivals in 20 s at 50 a second", n)
	}
	for i, a := range first {
		if a.Patience < 800*time.Millisecond || a.Patience >= time.Second {
			t.Errorf("arrival %d waits %v", i, a.Patience)
		}
		if i > 0 && a.At < first[i-1].At {
			t.Errorf("arrival %d comes before the one before it", i)
		}
	}
}

func TestNothingArrivesAtNoRate(t *testing.T) {
	for _, rate := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		if got := schedule(Load{Rate: rate, For: time.Minute}); len(got) != 0 {
			t.Errorf("rate %v: %d arrivals", rate, len(got))
		}
	}
}

func schedule(l Load) []Arrival { return slices.Collect(l.Arrivals()) }

func TestAMixIsDrawnByItsShares(t *testing.T) {
	load := Load{Rate: 1000, For: 10 * time.Second, Mix: []Kind{{Share: 9}, {Share: 1, Patience: 80 * time.Millisecond}}}
	rare := 0
	for a := range load.Arrivals() {
		rare += a.Kind
		if want := []time.Duration{time.Second, 80 * time.Millisecond}[a.Kind]; a.Patience != want {
			t.Fatalf("kind %d waits %v", a.Kind, a.Patience)
		}
	}
	if rare < 900 || rare > 1100 {
		t.Errorf("%d of 10000 are of the tenth", rare)
	}
}

// A caller asks again until it is answered, each time with a deadline of its
// own, and what it says last is what became of it.
func TestCallersAskAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []Result
		asked := 0
		send := func(_ context.Context, s Shot) Outcome {
			if asked++; asked < 3 {
				return Refused
			}
			return InTime
		}
		start := time.Now()
		Load{Rate: 1, For: time.Second, Retries: 5, Pause: 100 * time.Millisecond}.Run(t.Context(), send, func(r Result) { got = append(got, r) })
		if len(got) != 3 || !got[0].Again || !got[1].Again || got[2].Again || got[2].Outcome != InTime {
			t.Fatalf("%+v", got)
		}
		for n, r := range got {
			if !r.First.Equal(start) || r.Shot.Deadline.Sub(r.Shot.At) != time.Second {
				t.Errorf("the %d.: %+v", n+1, r)
			}
		}
		if late := got[2].Shot.At.Sub(start); late > 300*time.Millisecond {
			t.Errorf("the third is sent after %v", late)
		}
	})
}

func TestCallersGiveUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tally Tally
		Load{Rate: 10, For: time.Second, Retries: 2}.Run(t.Context(), func(context.Context, Shot) Outcome { return Failed }, tally.Hear)
		if tally.Count(Failed) != 30 {
			t.Errorf("%d times, want 10 callers three times", tally.Count(Failed))
		}
	})
}

func TestAnEmptyTallyAnswersZero(t *testing.T) {
	var tally Tally
	if tally.Total() != 0 || tally.Share(InTime) != 0 || tally.Quantile(InTime, .99) != 0 || tally.Lag(.99) != 0 {
		t.Error("an empty tally knows something")
	}
}
