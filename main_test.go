package kalan_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/limit"
	"github.com/kalan-go/kalan/policy/retry"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const ms = time.Millisecond

var (
	errDown     = &timeoutless{} // an error of the network, which Classify calls a failure
	errBusiness = errors.New("no such order")
)

// timeoutless is a net.Error.
type timeoutless struct{}

func (*timeoutless) Error() string   { return "connection reset" }
func (*timeoutless) Timeout() bool   { return false }
func (*timeoutless) Temporary() bool { return false }

// all applies changes one after the other.
func all(changes ...func(*kalan.Config)) func(*kalan.Config) {
	return func(c *kalan.Config) {
		for _, change := range changes {
			if change != nil {
				change(c)
			}
		}
	}
}

func slots(n int) func(*kalan.Config) {
	return func(c *kalan.Config) { c.Limit = limit.Fixed(n) }
}

// once allows one attempt a call.
func once(c *kalan.Config) { c.Retry.Attempts = 1 }

// atOnce retries without a pause.
func atOnce(c *kalan.Config) { c.Retry.Jitter = retry.AtOnce }

// noWait refuses at once when there is no slot.
func noWait(c *kalan.Config) { c.Checkout = -1 }

// tripsAt opens the breaker at so many failures for as long, and probes with so
// many calls.
func tripsAt(calls int, open time.Duration, probes int) func(*kalan.Config) {
	return func(c *kalan.Config) { c.Breaker.Calls, c.Breaker.Open, c.Breaker.Probes = calls, open, probes }
}

// fails and takes are functions to guard.
func fails(context.Context) (int, error) { return 0, errDown }

func takes(d time.Duration) func(context.Context) (int, error) {
	return func(context.Context) (int, error) {
		time.Sleep(d)
		return 1, nil
	}
}

// obeys works for d, or until its context ends.
func obeys(d time.Duration) func(context.Context) (int, error) {
	return func(ctx context.Context) (int, error) {
		select {
		case <-time.After(d):
			return 1, nil
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}

// together runs n calls at one instant and returns when all are done.
func together(n int, call func(i int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { call(i) })
	}
	wg.Wait()
}

// occupy lets n calls take a slot each for as long. They have them when it
// returns, and no time has passed.
func occupy(g *kalan.Guard, n int, d time.Duration) {
	for range n {
		go func() { _, _ = kalan.Do(context.Background(), g, takes(d)) }()
	}
	synctest.Wait()
}

// idle fails t unless everything that was taken has been given back.
func idle(t *testing.T, g *kalan.Guard) {
	t.Helper()
	synctest.Wait()
	s := g.Snapshot()
	if s.InFlight != 0 || s.Kept != 0 || s.Waiting != 0 || s.Breaker.ProbesOut != 0 || s.Budget.Running != 0 {
		t.Errorf("not idle: %d in flight, %d kept, %d waiting, %d probes, %d retries",
			s.InFlight, s.Kept, s.Waiting, s.Breaker.ProbesOut, s.Budget.Running)
	}
}

// admitsExactly fails t unless exactly n calls are admitted at once.
func admitsExactly(t *testing.T, g *kalan.Guard, n int) {
	t.Helper()
	var mu sync.Mutex
	running := 0
	together(n+1, func(i int) {
		if i == n { // the others have their slots
			time.Sleep(ms)
		}
		_, err := kalan.Do(context.Background(), g, func(context.Context) (int, error) {
			mu.Lock()
			running++
			mu.Unlock()
			time.Sleep(time.Second / 4)
			return 0, nil
		})
		if (err == nil) != (i < n) || err != nil && !errors.Is(err, policy.Full) && !errors.Is(err, policy.Waited) {
			t.Errorf("call %d of %d at once: %v", i+1, n, err)
		}
	})
	if running != n {
		t.Errorf("%d ran at once, capacity is %d", running, n)
	}
}
