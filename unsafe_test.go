package kalan_test

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/policy"
)

// What must not be done twice is not repeated after a timeout, since it may
// have been done (O-17); what was never sent is.
func TestUnsafeCallsAreNotRepeatedAfterATimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, test := range []struct {
			name  string
			leave bool
			fail  error // nil: hang until the time limit
			runs  int
		}{
			{"inline timeout", false, nil, 1},
			{"flight timeout", true, nil, 1},
			{"inline never sent", false, &net.OpError{Op: "dial", Err: errors.New("refused")}, 2},
			{"flight never sent", true, &net.OpError{Op: "dial", Err: errors.New("refused")}, 2},
		} {
			g := guard(t, nil)
			var runs atomic.Int32
			way := kalan.Way[int]{Leave: test.leave, Ask: kalan.Ask{Unsafe: true}}
			_, _, err := kalan.Hold(t.Context(), g, way, func(ctx context.Context) (int, error) {
				runs.Add(1)
				if test.fail == nil {
					<-ctx.Done()
					return 0, ctx.Err()
				}
				return 0, test.fail
			})
			if int(runs.Load()) != test.runs || err == nil {
				t.Errorf("%s: %d runs, want %d; %v", test.name, runs.Load(), test.runs, err)
			}
			if test.fail == nil && !errors.Is(err, policy.Timeout) {
				t.Errorf("%s: %v, want a timeout", test.name, err)
			}
		}
		time.Sleep(5 * time.Second) // the ghosts' bound
	})
}
