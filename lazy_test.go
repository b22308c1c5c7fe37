package kalan_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kalan-go/kalan"
)

// attemptContext runs look with the context of an attempt of 800 ms.
func attemptContext(t *testing.T, ctx context.Context, look func(ctx context.Context)) {
	t.Helper()
	g := guard(t, once)
	_, err := kalan.Do(ctx, g, func(ctx context.Context) (int, error) { look(ctx); return 0, nil })
	if err != nil {
		t.Error(err)
	}
}

func TestTheContextEndsAtTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		attemptContext(t, t.Context(), func(ctx context.Context) {
			if d, ok := ctx.Deadline(); !ok || d.Sub(start) != 800*ms || ctx.Err() != nil {
				t.Errorf("deadline %v, %v; error %v", d, ok, ctx.Err())
			}
			<-ctx.Done()
			if time.Since(start) != 800*ms || ctx.Err() != context.DeadlineExceeded {
				t.Errorf("done after %v: %v", time.Since(start), ctx.Err())
			}
		})
		start = time.Now()
		attemptContext(t, t.Context(), func(ctx context.Context) { // nobody waits on it, and it ends all the same
			time.Sleep(800*ms - 1)
			if ctx.Err() != nil {
				t.Errorf("one nanosecond early: %v", ctx.Err())
			}
			time.Sleep(time.Nanosecond)
			if ctx.Err() != context.DeadlineExceeded {
				t.Errorf("at the limit: %v", ctx.Err())
			}
			<-ctx.Done()
		})
	})
}

// A context that escapes its attempt is over, whether or not somebody had waited
// on it before, and says so consistently.
func TestAnEscapedContextIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, armed := range []bool{false, true} {
			var escaped context.Context
			attemptContext(t, t.Context(), func(ctx context.Context) {
				if escaped = ctx; armed {
					ctx.Done()
				}
			})
			if err := escaped.Err(); err != context.Canceled {
				t.Errorf("armed %v: %v", armed, err)
			}
			select {
			case <-escaped.Done():
			default:
				t.Errorf("armed %v: not done", armed)
			}
			if err := context.Cause(escaped); err != context.Canceled {
				t.Errorf("armed %v: cause %v", armed, err)
			}
			child, cancel := context.WithCancel(escaped)
			defer cancel()
			if child.Err() == nil {
				t.Errorf("armed %v: a child of it lives", armed)
			}
			time.Sleep(time.Hour) // its deadline passes, and changes nothing
			if err := escaped.Err(); err != context.Canceled {
				t.Errorf("armed %v, an hour later: %v", armed, err)
			}
		}
	})
}

// Children, timers and callbacks hang on it without a goroutine each.
func TestChildrenNeedNoGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		attemptContext(t, t.Context(), func(ctx context.Context) {
			before := runtime.NumGoroutine()
			var children []context.Context
			ran := make(chan struct{}, 100)
			for range 100 {
				child, cancel := context.WithCancel(ctx)
				defer cancel()
				grand, stop := context.WithTimeout(child, time.Hour)
				defer stop()
				context.AfterFunc(ctx, func() { ran <- struct{}{} })
				children = append(children, child, grand)
			}
			if n := runtime.NumGoroutine(); n > before {
				t.Errorf("%d goroutines for 300 children", n-before)
			}
			time.Sleep(800 * ms)
			synctest.Wait()
			for _, child := range children {
				if child.Err() != context.DeadlineExceeded {
					t.Fatalf("a child after the limit: %v", child.Err())
				}
			}
			if len(ran) != 100 {
				t.Errorf("%d of 100 callbacks ran", len(ran))
			}
		})
	})
}

type key struct{}

// Values, cancellation and its cause come through from the caller.
func TestTheCallersContextShowsThrough(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cause := errors.New("closed the page")
		for _, armed := range []bool{false, true} {
			parent, cancel := context.WithCancelCause(context.WithValue(t.Context(), key{}, "theirs"))
			g := guard(t, nil)
			_, err := kalan.Do(parent, g, func(ctx context.Context) (int, error) {
				if armed {
					ctx.Done()
				}
				if v := ctx.Value(key{}); v != "theirs" {
					t.Errorf("armed %v: value %v", armed, v)
				}
				if a := kalan.AttemptOf(ctx); a.Number != 1 || time.Until(a.Until) != 800*ms {
					t.Errorf("armed %v: %+v", armed, a)
				}
				cancel(cause)
				<-ctx.Done()
				if ctx.Err() != context.Canceled || context.Cause(ctx) != cause {
					t.Errorf("armed %v: %v, because %v", armed, ctx.Err(), context.Cause(ctx))
				}
				return 0, ctx.Err()
			})
			if !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		}
	})
}

// AttemptOf counts the attempts, and outside of one reads the context itself.
func TestAttemptOf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if a := kalan.AttemptOf(ctx); a.Number != 1 || time.Until(a.Until) != 10*time.Second {
			t.Errorf("outside: %+v", a)
		}
		if a := kalan.AttemptOf(context.Background()); a != (kalan.Attempt{Number: 1}) {
			t.Errorf("outside, without a deadline: %+v", a)
		}
		for _, change := range []func(*kalan.Config){nil, withoutTimeout} {
			g := guard(t, all(atOnce, change))
			n := 0
			_, _ = kalan.Do(ctx, g, func(ctx context.Context) (int, error) {
				n++
				if a := kalan.AttemptOf(ctx); a.Number != n {
					t.Errorf("attempt %d says it is %d", n, a.Number)
				}
				return 0, errDown
			})
			if n != 2 {
				t.Errorf("%d attempts", n)
			}
		}
	})
}

// Done is never closed while Err is nil, whoever asks while the attempt ends.
// This one races on real goroutines.
func TestDoneAndErrAgree(t *testing.T) {
	g := guard(t, once)
	for range 200 {
		var watchers sync.WaitGroup
		_, _ = kalan.Do(t.Context(), g, func(ctx context.Context) (int, error) {
			for i := range 4 {
				watchers.Go(func() {
					if i == 0 {
						child, cancel := context.WithCancel(ctx)
						defer cancel()
						<-child.Done()
					} else if i == 1 {
						for ctx.Err() == nil {
							runtime.Gosched()
						}
					}
					<-ctx.Done()
					if ctx.Err() == nil || ctx.Value(key{}) != nil {
						t.Error("done, and no error")
					}
				})
			}
			return 0, nil
		})
		watchers.Wait()
	}
}
