package reconnect

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/policy"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A loss is one call of Config.Lost.
type loss struct {
	err  error
	wait time.Duration
}

func TestRunComesBackAfterEveryEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lost []loss
		var begun []time.Time
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		ends := []error{io.EOF, nil, &kalan.Rejection{Reason: policy.Full, RetryAfter: 5 * time.Second}, io.ErrUnexpectedEOF}
		err := Run(ctx, Config{Lost: func(err error, wait time.Duration) { lost = append(lost, loss{err, wait}) }}, func(ctx context.Context, ready func()) error {
			begun = append(begun, time.Now())
			if n := len(begun) - 1; n < len(ends) {
				return ends[n]
			}
			ready()
			<-ctx.Done()
			return ctx.Err()
		})
		if err != context.DeadlineExceeded || len(begun) != 5 || len(lost) != 4 {
			t.Fatalf("%v after %d connections, %d lost", err, len(begun), len(lost))
		}
		for i, l := range lost {
			if l.err != ends[i] || begun[i+1].Sub(begun[i]) != l.wait || l.wait < 200*ms {
				t.Errorf("%d: lost with %v, came back after %v, told %v", i, l.err, begun[i+1].Sub(begun[i]), l.wait)
			}
		}
		if lost[2].wait < 5*time.Second || lost[2].wait > 8200*ms {
			t.Errorf("asked to stay away for 5 s, waited %v", lost[2].wait)
		}
	})
}

func TestAConnectionThatIsNotReadyInTimeIsCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lost error
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		begun := time.Time{}
		Run(ctx, Config{Name: "prices", Lost: func(err error, _ time.Duration) { lost = err; cancel() }}, func(ctx context.Context, ready func()) error {
			begun = time.Now()
			<-ctx.Done()
			ready() // too late
			if took := time.Since(begun); context.Cause(ctx) != policy.Timeout || took != 10*time.Second {
				t.Errorf("cut after %v because %v", took, context.Cause(ctx))
			}
			return io.EOF
		})
		if !errors.Is(lost, policy.Timeout) || !errors.Is(lost, io.EOF) {
			t.Errorf("lost with %v", lost)
		}
	})
}

func TestAHealthyConnectionBeginsTheWaitsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var waits []time.Duration
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		connections := 0
		Run(ctx, Config{Base: time.Second, Cap: time.Hour, Lost: func(_ error, wait time.Duration) {
			if waits = append(waits, wait); len(waits) == 40 {
				cancel()
			}
		}}, func(ctx context.Context, ready func()) error {
			ready()
			ready() // again is harmless
			if connections++; connections > 20 {
				time.Sleep(time.Minute)
			}
			return io.EOF
		})
		longest := time.Duration(0)
		for i, wait := range waits {
			if longest = max(longest, wait); i >= 20 && wait > 1100*ms {
				t.Errorf("loss %d, after a minute of health: waits %v", i, wait)
			}
		}
		if longest < time.Minute {
			t.Errorf("twenty failures in a row waited at most %v", longest)
		}
	})
}

func TestRunEndsWhenItMust(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wrong := errors.New("wrong password")
		reason := errors.New("the reason")
		far := &kalan.Rejection{Reason: policy.Rate, RetryAfter: time.Hour}
		cancelled, cancel := context.WithCancelCause(t.Context())
		cancel(reason)
		for _, test := range []struct {
			name string
			ctx  context.Context
			end  error
			want error
			text string
		}{
			{"stopped", t.Context(), Stop(wrong), wrong, "wrong password"},
			{"stopped without a reason", t.Context(), Stop(nil), nil, "reconnect: stopped"},
			{"asked for too much", t.Context(), far, policy.Rate, "reconnect: asked to stay away for 1h0m0s, and the longest that is waited for is 10m0s: kalan: rate limit exceeded; come back in 1h0m0s"},
			{"cancelled", cancelled, nil, reason, "the reason"},
		} {
			n := 0
			err := Run(test.ctx, Config{}, func(context.Context, func()) error { n++; return test.end })
			if err == nil || err.Error() != test.text || test.want != nil && !errors.Is(err, test.want) || n > 1 {
				t.Errorf("%s: %v after %d connections", test.name, err, n)
			}
		}
	})
}

func TestAStopIsTheErrorItMarks(t *testing.T) {
	if err := Stop(io.EOF); !errors.Is(err, io.EOF) || err.Error() != "EOF" {
		t.Errorf("%v", err)
	}
}

func TestAPanicIsTheCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		defer func() {
			if got := recover(); got != "boom" {
				t.Errorf("recovered %v", got)
			}
		}()
		Run(t.Context(), Config{}, func(context.Context, func()) error { panic("boom") })
	})
}
