package kalan_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/limit"
	"github.com/kalan-go/kalan/policy/stack"
)

// guard returns a guard with everything on.
func guard(t testing.TB, change func(*kalan.Config)) *kalan.Guard {
	t.Helper()
	c := kalan.Config{Name: "bridge-a", Config: stack.Config{
		Exchange: 800 * time.Millisecond, Limit: limit.Fixed(25), Rate: 1e9,
	}}
	if change != nil {
		change(&c)
	}
	g, err := kalan.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func withoutTimeout(c *kalan.Config) {
	c.Exchange = 0
	c.Breaker.Slow = 400 * time.Millisecond
}

func nothing(context.Context) (int, error) { return 0, nil }

func BenchmarkDo(b *testing.B) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	for _, bench := range []struct {
		name   string
		change func(*kalan.Config)
	}{{"no timeout", withoutTimeout}, {"timeout", nil}} {
		b.Run(bench.name, func(b *testing.B) {
			g := guard(b, bench.change)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := kalan.Do(ctx, g, nothing); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("two clock reads", func(b *testing.B) {
		epoch := time.Now()
		var d time.Duration
		for b.Loop() {
			d += time.Since(epoch)
			d += time.Since(epoch)
		}
		_ = d
	})
}

func TestDoReturnsTheLastRealError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := guard(t, nil)
		n := 0
		_, err := kalan.Do(t.Context(), g, func(context.Context) (int, error) {
			n++
			return 0, io.ErrUnexpectedEOF
		})
		if n != 2 || err != io.ErrUnexpectedEOF {
			t.Errorf("%d attempts, error %v; want 2 attempts and the last one's error", n, err)
		}
	})
}

// Whoever classifies for himself judges what ended without an error, too; with
// the default nobody needs to be asked.
func TestClassifyJudgesTheCallWithoutAnError(t *testing.T) {
	for name, test := range map[string]struct {
		classify func(error) policy.Report
		want     policy.Outcome
	}{
		"own":     {func(error) policy.Report { return policy.Report{Outcome: policy.Failure, Final: true} }, policy.Failure},
		"default": {nil, policy.Success},
	} {
		g := guard(t, func(c *kalan.Config) { c.Classify = test.classify })
		if _, err := kalan.Do(t.Context(), g, nothing); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := g.Snapshot().Counts.Outcomes; got[test.want] != 1 {
			t.Errorf("%s: outcomes %v, want one %v", name, got, test.want)
		}
	}
}

// A later attempt that breaks loose frees its slot as the first would, and its
// context is over, which is not that of the first.
func TestALaterAttemptBreaksLoose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := guard(t, nil)
		var given []context.Context
		func() {
			defer func() {
				if got := recover(); got != "second" {
					t.Errorf("%v reached the caller", got)
				}
			}()
			_, _ = kalan.Do(t.Context(), g, func(ctx context.Context) (int, error) {
				if given = append(given, ctx); len(given) == 2 {
					panic("second")
				}
				return 0, io.ErrUnexpectedEOF
			})
		}()
		if len(given) != 2 || given[0] == given[1] {
			t.Fatalf("%d attempts, or one context for all", len(given))
		}
		for i, ctx := range given {
			if !errors.Is(ctx.Err(), context.Canceled) {
				t.Errorf("the context of attempt %d: %v", i+1, ctx.Err())
			}
		}
		idle(t, g)
	})
}
