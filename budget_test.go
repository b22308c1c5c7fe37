package kalan_test

import (
	"context"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/policy/budget"
	"github.com/kalan-go/kalan/policy/limit"
)

// A budget of what is under way: as many retries at once as its share says, also
// behind calls that are older than any window, and nothing left of it when the
// calls have ended, whichever way.
func TestABudgetOfWhatIsUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := kalan.Config{Name: "long"}
		c.Limit = limit.None()
		c.Budget = budget.Config{Ratio: .1, Floor: -1, InFlight: true}
		g, err := kalan.New(c)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var calls sync.WaitGroup
		for n := range 40 {
			calls.Go(func() {
				defer func() { _ = recover() }()
				_, _ = kalan.Do(ctx, g, func(ctx context.Context) (int, error) {
					switch first := kalan.AttemptOf(ctx).Number == 1; {
					case n < 18 && first: // fails after an hour
						time.Sleep(time.Hour)
						return 0, syscall.ECONNRESET
					case n == 18:
						time.Sleep(2 * time.Hour)
						panic("a bug of the caller's")
					}
					<-ctx.Done() // runs on
					return 0, ctx.Err()
				})
			})
		}
		time.Sleep(90 * time.Minute)
		// The first to fail were of 40 that were under way; 22 calls run on.
		if s := g.Snapshot(); s.Budget.Calls != 22 || s.Budget.Running != 4 || s.Counts.Retries != 4 {
			t.Errorf("after the failures: %d first attempts and %d retries under way, %d started; want 22, 4 and 4",
				s.Budget.Calls, s.Budget.Running, s.Counts.Retries)
		}
		time.Sleep(time.Hour)
		cancel()
		calls.Wait()
		if s := g.Snapshot(); s.Budget.Calls != 0 || s.Budget.Running != 0 {
			t.Errorf("at the end %d first attempts and %d retries are under way", s.Budget.Calls, s.Budget.Running)
		}
	})
}
