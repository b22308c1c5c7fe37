package kalan_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/breaker"
	"github.com/kalan-go/kalan/policy/limit"
	"github.com/kalan-go/kalan/policy/stack"
)

// A larger limit lets those who wait in at once, a smaller one drives nobody
// out, and an open breaker stays open.
func TestConfigureKeepsWhatGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := kalan.Config{Config: stack.Config{Limit: limit.Fixed(1), Checkout: time.Second}}
		g, err := kalan.New(c)
		if err != nil {
			t.Fatal(err)
		}
		work := func(context.Context) (int, error) { time.Sleep(500 * time.Millisecond); return 0, nil }
		done := make(chan error)
		for range 3 {
			go func() { _, err := kalan.Do(t.Context(), g, work); done <- err }()
		}
		synctest.Wait()
		c.Config.Limit = limit.Fixed(3)
		if err := g.Configure(c.Config); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if s := g.Snapshot(); s.InFlight != 3 || s.Waiting != 0 {
			t.Errorf("%d in flight, %d waiting after the limit grew to 3", s.InFlight, s.Waiting)
		}
		c.Config.Limit = limit.Fixed(1)
		c.Config.Breaker.Mode = breaker.ForcedOpen
		if err := g.Configure(c.Config); err != nil {
			t.Fatal(err)
		}
		if _, err := kalan.Do(t.Context(), g, work); !errors.Is(err, policy.Open) {
			t.Errorf("%v behind a breaker that was forced open", err)
		}
		for range 3 {
			if err := <-done; err != nil {
				t.Errorf("a call that ran was driven out: %v", err)
			}
		}
		c.Config.Exchange = -1
		if err := g.Configure(c.Config); err == nil {
			t.Error("a negative exchange was accepted")
		}
	})
}

// Observing refuses nothing and counts what would have been.
func TestObserveRefusesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, err := kalan.New(kalan.Config{Config: stack.Config{
			Observe: true, Limit: limit.Fixed(1), Checkout: -1, Rate: 1, Exchange: 800 * time.Millisecond,
		}})
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error)
		for i := range 40 {
			go func() {
				time.Sleep(time.Duration(i) * 100 * time.Millisecond)
				_, err := kalan.Do(t.Context(), g, func(ctx context.Context) (int, error) {
					<-ctx.Done()
					return 0, ctx.Err()
				})
				done <- err
			}()
		}
		for range 40 {
			if err := <-done; !errors.Is(err, policy.Timeout) {
				t.Fatalf("%v; want the attempt's own timeout", err)
			}
		}
		s := g.Snapshot()
		if s.Breaker.State == breaker.Closed || s.Counts.Refused[policy.Open] != 0 {
			t.Errorf("the breaker is %v after 40 timeouts, and refused %d", s.Breaker.State, s.Counts.Refused[policy.Open])
		}
		if _, err := kalan.Do(t.Context(), g, nothing); err != nil {
			t.Errorf("refused while observing: %v", err)
		}
		if s.InFlight != 0 {
			t.Errorf("%d in flight at the end", s.InFlight)
		}
	})
}
