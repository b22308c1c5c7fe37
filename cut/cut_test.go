package cut

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/jitter"
	"github.com/kalan-go/kalan/policy"
)

const ms = time.Millisecond

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func must(t testing.TB, config Config) *Pool {
	t.Helper()
	p, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// deaf returns a function that takes d whatever its context says.
func deaf(d time.Duration) func(context.Context) (int, error) {
	return func(context.Context) (int, error) { return 7, jitter.Sleep(context.Background(), d) }
}

// O-25, with its figures: limit 100 ms, cap 20, a function that runs 10 s,
// 1,000 calls at 100 a second.
func TestZombiesArePaidForByNobodyElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := must(t, Config{Workers: 20, Waiting: -1, Timeout: 100 * ms})
		baseline, refused := runtime.NumGoroutine(), 0
		var mu sync.Mutex
		var callers atomic.Int64 // those are the test's own goroutines
		for range 1000 {
			callers.Add(1)
			go func() {
				defer callers.Add(-1)
				begun := time.Now()
				_, err := Do(t.Context(), p, deaf(10*time.Second))
				took := time.Since(begun)
				mu.Lock()
				defer mu.Unlock()
				switch {
				case errors.Is(err, policy.Timeout) && took >= 100*ms && took <= 130*ms:
				case errors.Is(err, policy.Full) && took < ms:
					refused++
				default:
					t.Errorf("%v after %v", err, took)
				}
			}()
			time.Sleep(10 * ms)
			if n := runtime.NumGoroutine() - int(callers.Load()); n > baseline+20+10 {
				t.Errorf("%d goroutines, %d before", n, baseline)
			}
			if n := p.Snapshot().Zombies; n > 20 {
				t.Errorf("%d zombies", n)
			}
		}
		time.Sleep(20 * time.Second)
		if s := p.Snapshot(); s.Zombies != 0 || s.Running != 0 || s.Cut != uint64(1000-refused) || s.Late != s.Cut || s.Refused != uint64(refused) {
			t.Errorf("%d refused: %+v", refused, s)
		}
		if refused != 980 {
			t.Errorf("%d refused, want all but 20", refused)
		}
	})
}

// F22: 25 workers, queue 1, 800 ms.
func TestOneWaitsAndTheNextIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := must(t, Config{})
		for range 25 {
			go Do(t.Context(), p, deaf(300*ms))
		}
		synctest.Wait()
		waited := make(chan time.Duration)
		go func() {
			begun := time.Now()
			if v, err := Do(t.Context(), p, deaf(100*ms)); v != 7 || err != nil {
				t.Errorf("who waited got %d, %v", v, err)
			}
			waited <- time.Since(begun)
		}()
		synctest.Wait()
		if s := p.Snapshot(); s.Running != 25 || s.Waiting != 1 {
			t.Errorf("%+v", s)
		}
		if _, err := Do(t.Context(), p, deaf(0)); !errors.Is(err, policy.Full) {
			t.Errorf("the next got %v", err)
		}
		if d := <-waited; d != 400*ms {
			t.Errorf("waited %v", d)
		}
	})
}

func TestTheLimitCoversTheQueueToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := must(t, Config{Workers: 1, Timeout: 800 * ms})
		go Do(t.Context(), p, deaf(500*ms))
		synctest.Wait()
		begun := time.Now()
		if _, err := Do(t.Context(), p, deaf(time.Second)); !errors.Is(err, policy.Timeout) || time.Since(begun) != 800*ms {
			t.Errorf("%v after %v", err, time.Since(begun))
		}
		time.Sleep(time.Second)

		go Do(t.Context(), p, deaf(time.Second)) // cut at 800 ms, runs until 1 s
		time.Sleep(500 * ms)
		begun = time.Now()
		if v, err := Do(t.Context(), p, deaf(0)); v != 7 || err != nil || time.Since(begun) != 500*ms {
			t.Errorf("%d, %v after %v: a zombie's worker is free when it returns", v, err, time.Since(begun))
		}

		go Do(t.Context(), p, deaf(time.Hour))
		time.Sleep(500 * ms)
		begun = time.Now()
		if _, err := Do(t.Context(), p, deaf(0)); !errors.Is(err, policy.Waited) || time.Since(begun) != 800*ms {
			t.Errorf("%v after %v", err, time.Since(begun))
		}
		begun = time.Now()
		if _, err := Do(t.Context(), p, deaf(0)); !errors.Is(err, policy.Full) || time.Since(begun) != 0 {
			t.Errorf("%v after %v: nobody waits for zombies alone", err, time.Since(begun))
		}
		time.Sleep(time.Hour)
	})
}

// O-02: a worker that comes free at the very instant at which the time of a
// waiting caller is up begins nothing for it.
func TestNothingIsBegunForACallerWhoseTimeIsUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := must(t, Config{Workers: 1, Timeout: 100 * ms})
		for range 100 {
			var callers sync.WaitGroup
			callers.Go(func() { Do(t.Context(), p, deaf(150*ms)) })
			synctest.Wait()
			time.Sleep(50 * ms)
			begun := false
			callers.Go(func() {
				_, err := Do(t.Context(), p, func(context.Context) (int, error) { begun = true; return 0, nil })
				if !errors.Is(err, policy.Waited) {
					t.Errorf("%v", err)
				}
			})
			callers.Wait()
			synctest.Wait()
			if s := p.Snapshot(); begun || s.Running != 0 {
				t.Fatalf("begun %v, %+v", begun, s)
			}
		}
	})
}

// A guard around a pool hears of what was cut, and not of what the pool refused.
func TestAGuardAroundAPool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for workers, want := range map[int]policy.Reason{20: policy.Open, 2: policy.Full} {
			p := must(t, Config{Workers: workers, Waiting: -1, Timeout: 20 * ms})
			g, err := kalan.New(kalan.Config{Name: "directory"})
			if err != nil {
				t.Fatal(err)
			}
			for range 30 {
				_, err = kalan.Do(t.Context(), g, func(ctx context.Context) (int, error) { return Do(ctx, p, deaf(time.Minute)) })
			}
			if !errors.Is(err, want) {
				t.Errorf("%d workers: %v", workers, err)
			}
		}
		time.Sleep(time.Hour)
	})
}

func TestTheErrorSaysWhoseTimeWasUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := must(t, Config{Name: "ldap"})
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		short, cancelShort := context.WithTimeout(t.Context(), 100*ms)
		defer cancelShort()
		leaves, leave := context.WithCancel(t.Context())
		time.AfterFunc(50*ms, leave)
		for _, test := range []struct {
			ctx    context.Context
			reason policy.Reason
			is     error
			after  time.Duration
		}{
			{ended, policy.Gone, context.Canceled, 0},
			{leaves, policy.Gone, context.Canceled, 50 * ms},
			{short, policy.Expired, context.DeadlineExceeded, 50 * ms},
			{t.Context(), policy.Timeout, context.DeadlineExceeded, 800 * ms},
		} {
			begun := time.Now()
			_, err := Do(test.ctx, p, deaf(time.Second))
			if !errors.Is(err, test.reason) || !errors.Is(err, test.is) || time.Since(begun) != test.after {
				t.Errorf("%v after %v, want %v after %v", err, time.Since(begun), test.reason, test.after)
			}
		}
		time.Sleep(time.Second)
	})
}

func TestResultsAndContextArePassedOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := must(t, Config{})
		v, err := Do(t.Context(), p, func(ctx context.Context) (int, error) {
			<-ctx.Done()
			return 3, io.ErrUnexpectedEOF
		})
		if !errors.Is(err, policy.Timeout) && (v != 3 || err != io.ErrUnexpectedEOF) { // both end at 800 ms
			t.Errorf("got %d, %v", v, err)
		}
		nested := &Panic{Value: "somewhere else"}
		if _, err := Do(t.Context(), p, func(context.Context) (int, error) { return 0, nested }); err != nested {
			t.Errorf("an error that tells of a panic was taken for one: %v", err)
		}
	})
}

func TestAPanicReachesTheCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := must(t, Config{Workers: 1})
		for range 3 {
			func() {
				defer func() {
					if got := recover(); got != io.EOF {
						t.Errorf("recovered %v", got)
					}
				}()
				Do(t.Context(), p, func(context.Context) (int, error) { panic(io.EOF) })
			}()
			exited := make(chan bool)
			go func() {
				defer close(exited)
				Do(t.Context(), p, func(context.Context) (int, error) { runtime.Goexit(); return 0, nil })
				t.Error("Goexit did not reach the caller")
			}()
			<-exited
		}
		if s := p.Snapshot(); s.Running != 0 || s.Panics != 0 {
			t.Errorf("%+v", s)
		}
	})
}

func TestWhatComesLateIsGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := must(t, Config{Timeout: 100 * ms})
		type end struct {
			value int
			err   string
		}
		var got []end
		late := func(v int, err error) {
			if got = append(got, end{v, fmt.Sprint(err)}); len(got) == 4 {
				panic("late itself")
			}
		}
		for _, fn := range []func(context.Context) (int, error){
			func(context.Context) (int, error) { time.Sleep(200 * ms); return 1, nil },
			func(context.Context) (int, error) { time.Sleep(200 * ms); panic("boom") },
			func(context.Context) (int, error) { time.Sleep(200 * ms); runtime.Goexit(); return 0, nil },
			func(context.Context) (int, error) { time.Sleep(200 * ms); return 4, io.EOF },
			func(context.Context) (int, error) { return 5, nil }, // in time
		} {
			DoLate(t.Context(), p, fn, late)
			time.Sleep(200 * ms)
		}
		want := []end{{1, "<nil>"}, {0, "panic: boom"}, {0, "runtime.Goexit was called"}, {4, "EOF"}}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("got %v, want %v", got, want)
		}
		if s := p.Snapshot(); s.Zombies != 0 || s.Running != 0 || s.Panics != 3 || s.Late != 4 {
			t.Errorf("%+v", s)
		}
	})
}

func TestWrongConfigurationsAreRefusedWhole(t *testing.T) {
	_, err := New(Config{Name: "ldap", Workers: -1, Waiting: most + 1, Timeout: -1})
	want := `cut ldap:
workers: -1 is out of range; write a number from 1 to 1048576
waiting: 1048577 is out of range; write a number from 1 to 1048576
timeout: -1ns is negative; write a duration such as 5s, or leave it out`
	if err == nil || err.Error() != want {
		t.Errorf("got:\n%v\nwant:\n%s", err, want)
	}
	if err := (Config{Waiting: -5}).Validate().Err(); err != nil {
		t.Error(err)
	}
}

func BenchmarkDo(b *testing.B) {
	p := must(b, Config{})
	b.ReportAllocs()
	for b.Loop() {
		Do(b.Context(), p, func(context.Context) (int, error) { return 1, nil })
	}
}
