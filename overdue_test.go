package kalan_test

import (
	"context"
	"testing"
	"time"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/budget"
	"github.com/kalan-go/kalan/policy/limit"
	"github.com/kalan-go/kalan/policy/retry"
)

// An attempt whose time is up before its caller has looked again is followed by
// the next at once. However many follow one another like that, an operator who
// writes 1ns for 1s gets timeouts, and no caller who never comes back.
func TestAttemptsThatAreOverdueAtOnce(t *testing.T) {
	c := kalan.Config{Name: "overdue"}
	c.Exchange = time.Nanosecond
	c.Limit, c.Breaker.Calls = limit.None(), 1<<20
	c.Retry = retry.Config{Attempts: 20, Base: 1, Jitter: retry.AtOnce}
	c.Budget = budget.Config{Ratio: 20}
	g, err := kalan.New(c)
	if err != nil {
		t.Fatal(err)
	}
	answer := func(context.Context) (int, error) { return 1, nil }
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 500 {
			if _, held, err := kalan.Hold(t.Context(), g, kalan.Way[int]{Leave: true}, answer); err == nil {
				held.Release(policy.Success)
			}
		}
	}()
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		t.Fatal("a caller has not come back")
	}
	if b := g.Snapshot().Budget; b.Extra < 6*b.Calls {
		t.Errorf("%d calls made %d further attempts, so that nothing was tested", b.Calls, b.Extra)
	}
}
