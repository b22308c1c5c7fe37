package kalan_test

import (
	"context"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kalan-go/kalan"
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
