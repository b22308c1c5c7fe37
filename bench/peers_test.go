package bench

import (
	"context"
	"errors"
	"time"

	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/adaptivelimiter"
	"github.com/failsafe-go/failsafe-go/adaptivethrottler"
	"github.com/failsafe-go/failsafe-go/bulkhead"
	"github.com/failsafe-go/failsafe-go/circuitbreaker"
	"github.com/failsafe-go/failsafe-go/ratelimiter"
	"github.com/failsafe-go/failsafe-go/retrypolicy"
	"github.com/failsafe-go/failsafe-go/timeout"
	"github.com/go-kratos/aegis/circuitbreaker/sre"
	"github.com/go-kratos/aegis/ratelimit"
	"github.com/go-kratos/aegis/ratelimit/bbr"
	"github.com/sony/gobreaker/v2"
	zero "github.com/zeromicro/go-zero/core/breaker"
	"github.com/zeromicro/go-zero/core/load"
	"golang.org/x/sync/semaphore"
	"golang.org/x/time/rate"
)

// work is what is protected; a call protects it once.
type (
	work func() (int, error)
	call func(work) error
)

var errFull = errors.New("full")

// gobreakers count over a minute, as Kalan's breaker does: in one piece, or in
// pieces of six seconds that roll.
func goBreaker(rolling bool) call {
	settings := gobreaker.Settings{Interval: time.Minute, ReadyToTrip: func(c gobreaker.Counts) bool {
		return c.Requests >= 20 && 2*c.TotalFailures >= c.Requests
	}}
	if rolling {
		settings.BucketPeriod = 6 * time.Second
	}
	b := gobreaker.NewCircuitBreaker[int](settings)
	return func(fn work) error {
		_, err := b.Execute(fn)
		return err
	}
}

func failsafeBreaker() circuitbreaker.CircuitBreaker[int] {
	return circuitbreaker.NewBuilder[int]().WithFailureRateThreshold(0.5, 20, time.Minute).WithDelay(10 * time.Second).Build()
}

// failsafeBreakerAlone is used by its permits, without an executor.
func failsafeBreakerAlone() call {
	b := failsafeBreaker()
	return func(fn work) error {
		if !b.TryAcquirePermit() {
			return circuitbreaker.ErrOpen
		}
		_, err := fn()
		if err != nil {
			b.RecordError(err)
		} else {
			b.RecordSuccess()
		}
		return err
	}
}

func zeroBreaker() call {
	b := zero.NewBreaker()
	return func(fn work) error { return b.Do(func() error { _, err := fn(); return err }) }
}

func aegisBreaker() call {
	b := sre.NewBreaker()
	return func(fn work) error {
		if err := b.Allow(); err != nil {
			return err
		}
		_, err := fn()
		if err != nil {
			b.MarkFailed()
		} else {
			b.MarkSuccess()
		}
		return err
	}
}

// failsafeThrottler is used by its permits, without an executor.
func failsafeThrottler() call {
	t := adaptivethrottler.NewWithDefaults[int]()
	return func(fn work) error {
		if !t.TryAcquirePermit() {
			return adaptivethrottler.ErrExceeded
		}
		_, err := fn()
		if err != nil {
			t.RecordError(err)
		} else {
			t.RecordSuccess()
		}
		return err
	}
}

func timeRate() call {
	l := rate.NewLimiter(1e9, 1e9)
	return func(fn work) error {
		if !l.Allow() {
			return errFull
		}
		_, err := fn()
		return err
	}
}

func failsafeRate() call {
	l := ratelimiter.NewSmoothWithMaxRate[int](time.Nanosecond)
	return func(fn work) error {
		if !l.TryAcquirePermit() {
			return errFull
		}
		_, err := fn()
		return err
	}
}

func syncSemaphore(n int64) call {
	s := semaphore.NewWeighted(n)
	return func(fn work) error {
		if !s.TryAcquire(1) {
			return errFull
		}
		_, err := fn()
		s.Release(1)
		return err
	}
}

func failsafeBulkhead(n uint) call {
	b := bulkhead.New[int](n)
	return func(fn work) error {
		if !b.TryAcquirePermit() {
			return errFull
		}
		_, err := fn()
		b.ReleasePermit()
		return err
	}
}

func failsafeAdaptive() call {
	l := adaptivelimiter.NewWithDefaults[int]()
	return func(fn work) error {
		permit, ok := l.TryAcquirePermit()
		if !ok {
			return errFull
		}
		_, err := fn()
		permit.Record()
		return err
	}
}

func aegisBBR() call {
	l := bbr.NewLimiter()
	return func(fn work) error {
		done, err := l.Allow()
		if err != nil {
			return err
		}
		_, err = fn()
		done(ratelimit.DoneInfo{Err: err})
		return err
	}
}

func zeroShedder() call {
	s := load.NewAdaptiveShedder()
	return func(fn work) error {
		promise, err := s.Allow()
		if err != nil {
			return err
		}
		if _, err = fn(); err != nil {
			promise.Fail()
		} else {
			promise.Pass()
		}
		return err
	}
}

func failsafeRetry() retrypolicy.RetryPolicy[int] {
	return retrypolicy.NewBuilder[int]().WithMaxRetries(1).WithBackoff(100*time.Millisecond, time.Second).
		AbortOnErrors(circuitbreaker.ErrOpen, bulkhead.ErrFull).Build()
}

func failsafeExecutor(policies ...failsafe.Policy[int]) call {
	executor := failsafe.With(policies...)
	return func(fn work) error {
		_, err := executor.Get(fn)
		return err
	}
}

// failsafeStack is used without the caller's context, the cheapest way.
func failsafeStack(limited bool) call { return failsafeExecutor(failsafePolicies(limited)...) }

// failsafeStackFor is used with it, so that it does the same as the others: the
// call ends when its caller leaves, and the function can see that.
func failsafeStackFor(ctx context.Context, limited bool) call {
	executor := failsafe.With(failsafePolicies(limited)...)
	return func(work) error {
		_, err := executor.WithContext(ctx).GetWithExecution(func(e failsafe.Execution[int]) (int, error) { return nothingFor(e.Context()) })
		return err
	}
}

func failsafePolicies(limited bool) []failsafe.Policy[int] {
	policies := []failsafe.Policy[int]{failsafeRetry(), failsafeBreaker()}
	if limited {
		policies = append(policies, timeout.New[int](exchange))
	}
	return append(policies, bulkhead.New[int](100))
}

// handMade is the stack that people write themselves: a loop around gobreaker
// around a rate limiter around a semaphore, with a context's timeout.
func handMade(limited bool) func(context.Context, func(context.Context) (int, error)) error {
	breaker := gobreaker.NewCircuitBreaker[int](gobreaker.Settings{Interval: time.Minute})
	limiter := rate.NewLimiter(1e9, 1e9)
	slots := semaphore.NewWeighted(100)
	once := func(ctx context.Context, fn func(context.Context) (int, error)) (int, error) {
		if err := limiter.Wait(ctx); err != nil {
			return 0, err
		}
		if limited {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, exchange)
			defer cancel()
		}
		if err := slots.Acquire(ctx, 1); err != nil {
			return 0, err
		}
		defer slots.Release(1)
		return fn(ctx)
	}
	return func(ctx context.Context, fn func(context.Context) (int, error)) error {
		for n := 0; ; n++ {
			_, err := breaker.Execute(func() (int, error) { return once(ctx, fn) })
			if err == nil || n == 1 {
				return err
			}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(100 * time.Millisecond):
			}
		}
	}
}
