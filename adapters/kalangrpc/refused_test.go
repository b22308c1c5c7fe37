package kalangrpc_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/status"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/adapters/kalangrpc"
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/limit"
	"github.com/kalan-go/kalan/policy/retry"
)

var slow = status.Error(codes.DeadlineExceeded, "the store was slow")

// A retry that is refused says nothing to a caller who has seen an attempt fail
// (F19): the answer is that attempt's, and the reason is kept.
func TestWhenARetryIsRefusedTheAttemptIsTheAnswer(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*kalan.Config)
		why    error
		hits   int64
	}{
		"open": {func(c *kalan.Config) { c.Breaker.Calls = 1 }, policy.Open, 1},
		"expired": {func(c *kalan.Config) {
			c.Retry.Base, c.Retry.Cap, c.Retry.Jitter = time.Hour, time.Hour, retry.Constant
		}, policy.Expired, 1},
		"rate":   {func(c *kalan.Config) { c.Rate = 0.001 }, policy.Rate, 1},
		"budget": {func(c *kalan.Config) { c.Budget.Ratio, c.Budget.Floor = 1e-9, -1 }, nil, 2}, // the first retry is asked for before it counts
	} {
		s := &service{empty: func(context.Context, int64) error { return slow }}
		client := call(t, s, kalangrpc.Client{Guard: guard(t, test.change), Repeatable: always})
		_, err := client.EmptyCall(within(t, plenty), &grpc_testing.Empty{})
		if n := s.hits.Load(); n != test.hits {
			t.Errorf("%s: %d attempts arrived, want %d", name, n, test.hits)
		}
		checkTheAttempts(t, name, err, test.why)
		if name == "open" { // the next has seen none fail
			_, err = client.EmptyCall(within(t, plenty), &grpc_testing.Empty{})
			wantCode(t, err, codes.Unavailable, policy.Open)
		}
	}
}

// The same for a slot that another call has taken in the meantime.
func TestWhenARetryFindsNoSlotTheAttemptIsTheAnswer(t *testing.T) {
	fail, leave := make(chan struct{}), make(chan struct{})
	s := &service{empty: func(_ context.Context, n int64) error {
		if n == 1 {
			<-fail
			return slow
		}
		<-leave
		return nil
	}}
	g := guard(t, exchange(2*plenty), func(c *kalan.Config) {
		c.Limit, c.Checkout, c.Retry.Jitter = limit.Fixed(1), plenty, retry.AtOnce
		c.Room.Waiting = 1
	})
	client := call(t, s, kalangrpc.Client{Guard: g, Repeatable: always})
	later := func() <-chan error {
		done := make(chan error, 1)
		go func() {
			_, err := client.EmptyCall(t.Context(), &grpc_testing.Empty{})
			done <- err
		}()
		return done
	}
	first := later()
	eventually(t, "the first call has arrived", func() bool { return s.hits.Load() == 1 })
	second := later()
	eventually(t, "the second call waits", func() bool { return g.Snapshot().Waiting == 1 })
	short := g.Config()
	if short.Checkout = 1; g.Configure(short) != nil {
		t.Fatal("the guard takes no shorter checkout")
	}
	close(fail)
	err := <-first
	close(leave)
	if err := <-second; err != nil {
		t.Errorf("the second call: %v", err)
	}
	checkTheAttempts(t, "waited", err, policy.Waited)
}

func checkTheAttempts(t *testing.T, name string, err, why error) {
	t.Helper()
	if status.Code(err) != codes.DeadlineExceeded || !strings.Contains(status.Convert(err).Message(), "the store was slow") {
		t.Errorf("%s: answered %v", name, err)
	}
	if why != nil && !errors.Is(err, why) {
		t.Errorf("%s: %v does not say why nothing followed", name, err)
	}
}

// Through a server the code goes on, and the text stays here: it may name
// addresses.
func TestTheCodeOfAnAttemptGoesThroughAServer(t *testing.T) {
	backend := &service{empty: func(context.Context, int64) error { return slow }}
	inner := call(t, backend, kalangrpc.Client{Guard: guard(t, func(c *kalan.Config) { c.Breaker.Calls = 1 }), Repeatable: always})
	middle := &service{empty: func(ctx context.Context, _ int64) error {
		_, err := inner.EmptyCall(ctx, &grpc_testing.Empty{})
		return err
	}}
	_, target := serve(t, middle, kalangrpc.Server{Guard: guard(t, nil)}.Options()...)
	for _, want := range []codes.Code{codes.DeadlineExceeded, codes.Unavailable} {
		_, err := ask(t.Context(), plain(t, target))
		if status.Code(err) != want || strings.Contains(err.Error(), "store") {
			t.Errorf("%v, want %v without what happened further down", err, want)
		}
	}
}
