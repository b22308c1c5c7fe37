package bench

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/circuitbreaker"
	"github.com/sony/gobreaker/v2"
	"github.com/zeromicro/go-zero/core/load"
	"github.com/zeromicro/go-zero/core/logx"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/breaker"
	"github.com/kalan-go/kalan/policy/limit"
)

// A peer is one library's way to do the benchmark's work.
type peer struct {
	name string
	call call
}

func nothing() (int, error) { return 0, nil }

func nothingFor(context.Context) (int, error) { return 0, nil }

func init() {
	logx.Disable()
	load.DisableLog()
}

// compare runs each peer from one goroutine.
func compare(b *testing.B, peers ...peer) {
	for _, p := range peers {
		b.Run("peer="+p.name, func(b *testing.B) {
			b.ReportAllocs()
			m := startMeter()
			for b.Loop() {
				if err := p.call(nothing); err != nil {
					b.Fatal(err)
				}
			}
			m.report(b)
		})
	}
}

func BenchmarkBreaker(b *testing.B) {
	compare(b, peer{"kalan", kalanBreaker()}, peer{"gobreaker", goBreaker(false)}, peer{"gobreaker-rolling", goBreaker(true)},
		peer{"failsafe", failsafeBreakerAlone()}, peer{"go-zero", zeroBreaker()}, peer{"aegis", aegisBreaker()})
}

// go-zero and aegis call theirs a breaker.
func BenchmarkThrottle(b *testing.B) {
	compare(b, peer{"kalan", kalanThrottle()}, peer{"failsafe", failsafeThrottler()},
		peer{"go-zero", zeroBreaker()}, peer{"aegis", aegisBreaker()})
}

func BenchmarkRate(b *testing.B) {
	compare(b, peer{"kalan", kalanRate()}, peer{"x-time-rate", timeRate()}, peer{"failsafe", failsafeRate()})
}

func BenchmarkSlots(b *testing.B) {
	compare(b, peer{"kalan", kalanSlots(100)},
		peer{"kalan-measuring", kalanLimit(limit.Fixed(100), false)}, peer{"kalan-measuring-timed", kalanLimit(limit.Fixed(100), true)},
		peer{"x-sync-semaphore", syncSemaphore(100)}, peer{"failsafe", failsafeBulkhead(100)})
}

func BenchmarkAdaptiveLimit(b *testing.B) {
	compare(b, peer{"kalan", kalanLimit(limit.Config{}, true)}, peer{"failsafe", failsafeAdaptive()},
		peer{"aegis-bbr", aegisBBR()}, peer{"go-zero-shedder", zeroShedder()})
}

func BenchmarkRetry(b *testing.B) {
	compare(b, peer{"kalan", kalanRetry()}, peer{"failsafe", failsafeExecutor(failsafeRetry())})
}

// The full stack: retry, breaker, limit; no attempt timeout.
func BenchmarkStack(b *testing.B) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	compare(b, peer{"kalan", guarded(guard(b, nil), ctx)}, peer{"failsafe", failsafeStackFor(ctx, false)},
		peer{"failsafe-no-context", failsafeStack(false)}, peer{"hand-made", made(handMade(false), ctx)})
}

// The same on every core at once, each with a dependency of its own, as in a
// server at its capacity. Garbage is collected by processors that have work to
// do then, and caches are shared.
func BenchmarkStackEveryCore(b *testing.B) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	for _, p := range []struct {
		name string
		make func() call
	}{
		{"kalan", func() call { return guarded(guard(b, nil), ctx) }}, {"failsafe", func() call { return failsafeStackFor(ctx, false) }},
		{"failsafe-no-context", func() call { return failsafeStack(false) }}, {"hand-made", func() call { return made(handMade(false), ctx) }},
	} {
		b.Run("peer="+p.name, func(b *testing.B) { parallel(b, p.make) })
	}
}

// The same with an attempt timeout that nobody comes to wait for.
func BenchmarkStackTimeout(b *testing.B) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	compare(b, peer{"kalan", guarded(guard(b, withTimeout), ctx)}, peer{"failsafe", failsafeStackFor(ctx, true)},
		peer{"failsafe-no-context", failsafeStack(true)}, peer{"hand-made", made(handMade(true), ctx)})
}

// An attempt timeout whose function does wait on its context, as a network
// client does.
func BenchmarkStackTimeoutAwaited(b *testing.B) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	waits := func(ctx context.Context) (int, error) {
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		default:
			return 0, nil
		}
	}
	g, hand := guard(b, withTimeout), handMade(true)
	executor := failsafe.With(failsafePolicies(true)...)
	compare(b, peer{"kalan", func(work) error { _, err := kalan.Do(ctx, g, waits); return err }},
		peer{"failsafe", func(work) error {
			_, err := executor.WithContext(ctx).GetWithExecution(func(e failsafe.Execution[int]) (int, error) { return waits(e.Context()) })
			return err
		}},
		peer{"hand-made", func(work) error { return hand(ctx, waits) }})
}

// Refusals by an open breaker: what an outage costs.
func BenchmarkRefusal(b *testing.B) {
	shut := guard(b, func(c *kalan.Config) { c.Breaker.Mode = breaker.ForcedOpen })
	machine := behindLock(breaker.New(breaker.Config{Mode: breaker.ForcedOpen}))
	open := failsafeBreaker()
	open.Open()
	tripped := gobreaker.NewCircuitBreaker[int](gobreaker.Settings{Timeout: time.Hour, ReadyToTrip: func(gobreaker.Counts) bool { return true }})
	_, _ = tripped.Execute(func() (int, error) { return 0, errFull })
	executor := failsafeExecutor(failsafeRetry(), open)
	for _, p := range []peer{
		{"kalan", func(work) error {
			now := machine.now()
			machine.mu.Lock()
			_, ok := machine.policy.Admit(now)
			machine.mu.Unlock()
			if !ok {
				return policy.Open
			}
			return nil
		}},
		{"gobreaker", func(fn work) error { _, err := tripped.Execute(fn); return err }},
		{"failsafe", func(work) error {
			if !open.TryAcquirePermit() {
				return circuitbreaker.ErrOpen
			}
			return nil
		}},
		{"kalan-stack", guarded(shut, context.Background())},
		{"failsafe-stack", executor},
	} {
		b.Run("peer="+p.name, func(b *testing.B) {
			b.ReportAllocs()
			m := startMeter()
			for b.Loop() {
				if p.call(nothing) == nil {
					b.Fatal("an open breaker let a call pass")
				}
			}
			m.report(b)
		})
	}
}

// 64 goroutines on however many cores there are. The time is that of the whole,
// divided by the calls.
func BenchmarkParallel64(b *testing.B) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	for _, p := range []peer{
		{"kalan", guarded(guard(b, nil), ctx)}, {"kalan-timeout", guarded(guard(b, withTimeout), ctx)},
		{"failsafe", failsafeStackFor(ctx, false)}, {"failsafe-timeout", failsafeStackFor(ctx, true)}, {"hand-made", made(handMade(false), ctx)},
		{"kalan-breaker", kalanBreaker()}, {"gobreaker", goBreaker(true)},
	} {
		b.Run("peer="+p.name, func(b *testing.B) {
			b.SetParallelism(64 / runtime.GOMAXPROCS(0))
			parallel(b, func() call { return p.call })
		})
	}
}

// parallel calls from several goroutines, each by what it is given.
func parallel(b *testing.B, give func() call) {
	b.ReportAllocs()
	m := startMeter()
	b.RunParallel(func(pb *testing.PB) {
		for call := give(); pb.Next(); {
			if err := call(nothing); err != nil {
				b.Error(err)
				return
			}
		}
	})
	m.report(b)
}

// What cannot be done without: two readings of the clock, two locks.
func BenchmarkFloor(b *testing.B) {
	d := newDriver()
	var sum policy.Instant
	var visits int
	visit := func() {
		d.mu.Lock()
		visits++
		d.mu.Unlock()
	}
	compare(b, peer{"two-clock-readings", func(fn work) error {
		sum += d.now()
		_, err := fn()
		sum += d.now()
		return err
	}}, peer{"two-locks", func(fn work) error {
		visit()
		_, err := fn()
		visit()
		return err
	}}, peer{"both", func(fn work) error {
		sum += d.now()
		visit()
		_, err := fn()
		sum += d.now()
		visit()
		return err
	}})
}

func guarded(g *kalan.Guard, ctx context.Context) call {
	return func(work) error {
		_, err := kalan.Do(ctx, g, nothingFor)
		return err
	}
}

func made(hand func(context.Context, func(context.Context) (int, error)) error, ctx context.Context) call {
	return func(work) error { return hand(ctx, nothingFor) }
}
