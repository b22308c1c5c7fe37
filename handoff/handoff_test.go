package handoff

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/kalan-go/kalan/jitter"
	"github.com/kalan-go/kalan/policy"
)

const ms = time.Millisecond

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func must[T any](t testing.TB, config Config, work Work[T]) *Queue[T] {
	t.Helper()
	q, err := New(config, work)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// A diary keeps what was done and what was dropped, in order.
type diary struct {
	mu            sync.Mutex
	done, dropped []int
	why           []error
}

func (d *diary) do(item int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.done = append(d.done, item)
}

func (d *diary) drop(item int, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.dropped, d.why = append(d.dropped, item), append(d.why, err)
}

// each returns work that takes d for each item, whatever its context says.
func (d *diary) each(takes time.Duration) Work[int] {
	return Work[int]{Drop: d.drop, Do: func(_ context.Context, item int) {
		jitter.Sleep(context.Background(), takes)
		d.do(item)
	}}
}

// F11: 1,000 wait, the next is refused, and nobody who offers is held up.
func TestAThousandWaitAndTheNextIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d diary
		q := must(t, Config{Name: "audit", Workers: 2}, d.each(10*ms))
		begun := time.Now()
		for i := range 1002 {
			if err := q.Offer(t.Context(), i); err != nil {
				t.Fatalf("offer %d: %v", i, err)
			}
		}
		for range 10 {
			if err := q.Offer(t.Context(), -1); !errors.Is(err, policy.Full) || err.Error() != "kalan: audit: all slots and waiting places are taken" {
				t.Errorf("got %v", err)
			}
		}
		if took := time.Since(begun); took != 0 {
			t.Errorf("offering took %v", took)
		}
		synctest.Wait()
		if s := q.Snapshot(); s.Waiting != 1000 || s.Running != 2 || s.Refused != 10 {
			t.Errorf("%+v", s)
		}
		time.Sleep(15 * ms)
		if s := q.Snapshot(); s.Waiting != 998 || s.Oldest != 15*ms {
			t.Errorf("%+v", s)
		}
		if err := q.Close(t.Context()); err != nil || len(d.done) != 1002 {
			t.Errorf("closing: %v after %d", err, len(d.done))
		}
		if s := q.Snapshot(); s.Done != 1002 || s.Waiting != 0 || s.Running != 0 || s.Oldest != 0 {
			t.Errorf("%+v", s)
		}
	})
}

func TestOneWorkerWorksInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d diary
		q := must(t, Config{Workers: 1, Waiting: 5}, d.each(10*ms))
		var want []int
		for i := range 100 { // around the ring many times
			if q.Offer(t.Context(), i) == nil {
				want = append(want, i)
			}
			time.Sleep(3 * ms)
		}
		q.Close(t.Context())
		if !slices.Equal(d.done, want) || len(want) < 30 || len(want) > 45 {
			t.Errorf("done %v\nwant %v", d.done, want)
		}
	})
}

// O-19: one worker, 50 ms a piece, stalls for 5 s. What was queued with a
// deadline of 2 s is never run, and what is alive does not wait for it.
func TestDeadWorkIsNotDoneAfterAStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d diary
		stall := 5 * time.Second
		q := must(t, Config{Workers: 1}, Work[int]{Drop: d.drop, Do: func(_ context.Context, item int) {
			time.Sleep(stall + 50*ms)
			stall = 0
			d.do(item)
		}})
		q.Offer(t.Context(), 0)
		for i := range 100 {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancel()
			if err := q.Offer(ctx, 1+i); err != nil {
				t.Fatal(err)
			}
			time.Sleep(10 * ms)
		}
		time.Sleep(4 * time.Second) // 5 s after the first
		begun := time.Now()
		q.Offer(t.Context(), 1000)
		q.Close(t.Context())
		if took := time.Since(begun); took > 100*ms || !slices.Equal(d.done, []int{0, 1000}) {
			t.Errorf("the live one was done after %v, and with it %v", took, d.done)
		}
		if s := q.Snapshot(); s.Dropped != 100 || len(d.dropped) != 100 {
			t.Errorf("%+v", s)
		}
		for _, err := range d.why {
			if !errors.Is(err, policy.Expired) || !errors.Is(err, context.DeadlineExceeded) {
				t.Fatalf("dropped with %v", err)
			}
		}
	})
}

func TestWhoIsGoneIsNotWorkedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d diary
		q := must(t, Config{Workers: 1}, d.each(10*ms))
		q.Offer(t.Context(), 1)
		ctx, cancel := context.WithCancel(t.Context())
		q.Offer(ctx, 2)
		cancel()
		if err := q.Offer(ctx, 3); !errors.Is(err, policy.Gone) {
			t.Errorf("an ended offer: %v", err)
		}
		q.Close(t.Context())
		if !slices.Equal(d.done, []int{1}) || !slices.Equal(d.dropped, []int{2}) || !errors.Is(d.why[0], policy.Gone) {
			t.Errorf("done %v, dropped %v, %v", d.done, d.dropped, d.why)
		}
	})
}

func TestTheQueueSurvivesItsWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d diary
		q := must(t, Config{Workers: 1}, Work[int]{
			Do: func(_ context.Context, item int) {
				switch item % 3 {
				case 0:
					panic("boom")
				case 1:
					runtime.Goexit()
				}
				d.do(item)
			},
			Drop: func(item int, err error) {
				d.drop(item, err)
				if item == 3 {
					panic("dropped badly")
				}
				if item == 4 {
					runtime.Goexit()
				}
			},
		})
		for i := range 12 {
			q.Offer(t.Context(), i)
		}
		if err := q.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(d.done, []int{2, 5, 8, 11}) || !slices.Equal(d.dropped, []int{0, 1, 3, 4, 6, 7, 9, 10}) {
			t.Errorf("done %v, dropped %v", d.done, d.dropped)
		}
		var crashed *Panic
		if !errors.As(d.why[0], &crashed) || fmt.Sprint(d.why[:2]) != "[panic: boom runtime.Goexit was called]" {
			t.Errorf("why: %v", d.why[:2])
		}
		if s := q.Snapshot(); s.Panics != 10 || s.Done != 4 || s.Dropped != 0 || s.Running != 0 {
			t.Errorf("%+v", s)
		}
	})
}

func TestCloseCutsWhatIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d diary
		hang := make(chan struct{})
		q := must(t, Config{Name: "audit", Workers: 2}, Work[int]{Drop: d.drop, Do: func(ctx context.Context, item int) {
			select {
			case <-ctx.Done():
				if context.Cause(ctx) != ErrClosed {
					t.Errorf("cut because %v", context.Cause(ctx))
				}
				d.do(item)
			case <-time.After(300 * ms):
				d.do(item)
			}
			if item == 3 {
				<-hang
			}
		}})
		for i := range 10 {
			q.Offer(t.Context(), i)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 500*ms)
		defer cancel()
		begun := time.Now()
		err := q.Close(ctx)
		want := "handoff audit: closing dropped 6 that waited and cut 2 that ran: context deadline exceeded"
		if err == nil || err.Error() != want || time.Since(begun) != 500*ms {
			t.Errorf("got %v after %v, want %s", err, time.Since(begun), want)
		}
		synctest.Wait()
		if slices.Sort(d.done); !slices.Equal(d.done, []int{0, 1, 2, 3}) || !slices.Equal(d.dropped, []int{4, 5, 6, 7, 8, 9}) {
			t.Errorf("done %v, dropped %v", d.done, d.dropped)
		}
		if err := q.Offer(t.Context(), 11); !errors.Is(err, policy.Shed) || !errors.Is(err, ErrClosed) || !errors.Is(d.why[0], ErrClosed) {
			t.Errorf("after closing: %v, dropped with %v", err, d.why[0])
		}
		close(hang)
		if err := q.Close(t.Context()); err != nil {
			t.Errorf("closing again: %v", err)
		}
	})
}

func TestClosingAnIdleQueueIsDoneAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d diary
		if err := must(t, Config{}, d.each(0)).Close(t.Context()); err != nil {
			t.Error(err)
		}
		q := must(t, Config{}, d.each(0))
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		for range 2 {
			if err := q.Close(ended); err != nil {
				t.Error(err)
			}
		}
	})
}

func TestWhatAWorkerTakesAfterTheCutIsDropped(t *testing.T) {
	var d diary
	q := must(t, Config{}, d.each(0))
	q.cut(ErrClosed)
	q.handle(entry[int]{ctx: t.Context(), item: 7})
	if len(d.done) != 0 || !slices.Equal(d.dropped, []int{7}) || !errors.Is(d.why[0], ErrClosed) {
		t.Errorf("done %v, dropped %v, %v", d.done, d.dropped, d.why)
	}
}

func TestNoPlacesMeansIdleWorkersOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d diary
		q := must(t, Config{Waiting: -1, Workers: 2}, Work[int]{Do: d.each(10 * ms).Do}) // and nobody to tell
		for i, want := range []error{nil, nil, policy.Full} {
			if err := q.Offer(t.Context(), i); !errors.Is(err, want) {
				t.Errorf("offer %d: %v, want %v", i, err, want)
			}
		}
		time.Sleep(time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), ms)
		defer cancel()
		if err := q.Offer(ctx, 3); err != nil {
			t.Error(err)
		}
		q.Close(t.Context())
	})
}

func TestWrongConfigurationsAreRefusedWhole(t *testing.T) {
	var d diary
	_, err := New(Config{Name: "audit", Waiting: most + 1, Workers: -1}, d.each(0))
	want := `handoff audit:
waiting: 16777217 is out of range; write a number from 1 to 16777216
workers: -1 is out of range; write a number from 1 to 16777216`
	if err == nil || err.Error() != want {
		t.Errorf("got:\n%v\nwant:\n%s", err, want)
	}
	if _, err := New(Config{}, Work[int]{}); err == nil || err.Error() != "handoff:\nwork.do: is missing; give a function" {
		t.Errorf("got %v", err)
	}
}

func TestAnOfferThatWaitsAllocatesNothing(t *testing.T) {
	hang := make(chan struct{})
	q := must(t, Config{Workers: 1}, Work[int]{Do: func(context.Context, int) { <-hang }})
	ctx := t.Context()
	if n := testing.AllocsPerRun(500, func() { q.Offer(ctx, 1) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	close(hang)
	q.Close(ctx)
}

func BenchmarkOffer(b *testing.B) {
	q := must(b, Config{}, Work[int]{Do: func(context.Context, int) {}})
	b.ReportAllocs()
	for b.Loop() {
		q.Offer(b.Context(), 1)
	}
	q.Close(b.Context())
}
