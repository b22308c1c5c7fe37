package pause

import (
	"context"
	"math"
	"runtime"
	"runtime/metrics"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/kalan-go/kalan/policy"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func must(t testing.TB, config Config) *Watch {
	t.Helper()
	w, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestAProcessThatRunsHasNoPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := must(t, Config{})
		time.Sleep(time.Hour) // between New and Run nothing is missed
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		err := w.Run(ctx, func(late time.Duration) { t.Errorf("a pause of %v", late) })
		if s := w.Snapshot(); err != context.DeadlineExceeded || s.Pauses.Count != 0 || s.Pauses.Beats < 35_990 {
			t.Errorf("%v, %+v", err, s.Pauses)
		}
	})
}

// Whoever holds the heartbeat's own goroutine up has made a pause.
func TestAPauseIsSeenAndTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := must(t, Config{Every: 10 * time.Millisecond, Threshold: time.Millisecond})
		w.config.Every = 1800 * time.Millisecond // the ticker's; the heart expects 10 ms
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		var told time.Duration
		w.Run(ctx, func(late time.Duration) { told = late })
		if s := w.Snapshot(); told != 1790*time.Millisecond || s.Pauses.Last != told || s.Pauses.Count != 1 {
			t.Errorf("told %v, %+v", told, s.Pauses)
		}
	})
}

func TestTheRuntimesPausesAreSeen(t *testing.T) {
	w := must(t, Config{})
	for range 3 {
		runtime.GC()
	}
	if s := w.Snapshot(); s.GC.Count == 0 || s.GC.Max <= 0 || s.GC.P50 > s.GC.P99 || s.GC.P99 > s.GC.Max {
		t.Errorf("after three collections: %+v", s.GC)
	}
}

// What is older than two windows is out of sight.
func TestTheRuntimesPausesAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := must(t, Config{Window: 10 * time.Second})
		for range 5 {
			runtime.GC()
		}
		collections := w.Snapshot().GC.Count
		for range 2 {
			time.Sleep(10 * time.Second)
			w.beat()
		}
		if n := w.Snapshot().GC.Count; collections == 0 || n >= collections {
			t.Errorf("%d collections, and %d of them in sight two windows later", collections, n)
		}
	})
}

func TestSummariesAreNeverTooShort(t *testing.T) {
	h := &metrics.Float64Histogram{
		Counts:  []uint64{1, 97, 0, 1, 1},
		Buckets: []float64{math.Inf(-1), 0.001, 0.002, 0.5, 1.8, math.Inf(1)},
	}
	const ms = time.Millisecond
	for _, test := range []struct {
		before []uint64
		want   Summary
	}{
		{nil, Summary{100, 2 * ms, 1800 * ms, 1800 * ms}},
		{[]uint64{1, 97, 0, 0, 1}, Summary{1, 1800 * ms, 1800 * ms, 1800 * ms}},
		{[]uint64{0, 97, 0, 1, 1}, Summary{1, ms, ms, ms}},
		{[]uint64{1, 97, 0, 1, 1}, Summary{}},
		{[]uint64{9, 99, 9, 9, 9}, Summary{}}, // cannot be, and is not negative
	} {
		if got := summarize(h, test.before); got != test.want {
			t.Errorf("since %v: %+v, want %+v", test.before, got, test.want)
		}
	}
	endless := &metrics.Float64Histogram{Counts: []uint64{1}, Buckets: []float64{math.Inf(-1), math.Inf(1)}}
	if got := summarize(endless, nil); got != (Summary{Count: 1}) {
		t.Errorf("one bucket without ends: %+v", got)
	}
	if got := summarize(nil, nil); got != (Summary{}) {
		t.Errorf("a runtime that does not know the metric: %+v", got)
	}
	if got := histogram(&metrics.Sample{}); got != nil {
		t.Errorf("a sample that was not filled: %v", got)
	}
}

// lagging is a context whose deadline has passed and whose timer has not fired
// yet, as after a pause.
type lagging struct {
	context.Context
	deadline time.Time
}

func (l lagging) Deadline() (time.Time, bool) { return l.deadline, true }

func TestOverGoesByTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cancelled, cancel := context.WithCancel(t.Context())
		cancel()
		expired, cancel2 := context.WithTimeout(t.Context(), 0)
		defer cancel2()
		alive, cancel3 := context.WithTimeout(t.Context(), 1)
		defer cancel3()
		for _, test := range []struct {
			ctx  context.Context
			want policy.Reason
		}{
			{t.Context(), policy.None},
			{alive, policy.None},
			{expired, policy.Expired},
			{cancelled, policy.Gone},
			{lagging{t.Context(), time.Now()}, policy.Expired},
			{lagging{t.Context(), time.Now().Add(-time.Hour)}, policy.Expired},
			{lagging{t.Context(), time.Now().Add(1)}, policy.None},
			{lagging{cancelled, time.Now().Add(-time.Hour)}, policy.Gone},
		} {
			if got := Over(test.ctx); got != test.want {
				t.Errorf("%v, want %v", got, test.want)
			}
			if n := testing.AllocsPerRun(10, func() { Over(test.ctx) }); n != 0 {
				t.Errorf("%v allocations", n)
			}
		}
	})
}

// Goroutines that wait for a processor are counted by the runtime, one in eight
// of them.
func TestTheRuntimesSchedulingDelaysAreSeen(t *testing.T) {
	w := must(t, Config{})
	var all sync.WaitGroup
	for range 10_000 {
		all.Go(runtime.Gosched)
	}
	all.Wait()
	if s := w.Snapshot().Scheduling; s.Count == 0 || s.Max <= 0 || s.P50 > s.P99 || s.P99 > s.Max {
		t.Errorf("after ten thousand goroutines: %+v", s)
	}
}
