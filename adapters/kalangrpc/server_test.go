package kalangrpc_test

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/adapters/kalangrpc"
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/breaker"
	"github.com/kalan-go/kalan/policy/limit"
)

// ask calls an unguarded client's method and returns its error and the pushback
// that came with it.
func ask(ctx context.Context, client grpc_testing.TestServiceClient) (string, error) {
	var trailer metadata.MD
	_, err := client.EmptyCall(ctx, &grpc_testing.Empty{}, grpc.Trailer(&trailer))
	return first(trailer, "grpc-retry-pushback-ms"), err
}

func plain(t *testing.T, target string) grpc_testing.TestServiceClient {
	return grpc_testing.NewTestServiceClient(dial(t, target))
}

// busy returns a service whose calls wait for the channel, and says when one
// has begun.
func busy() (s *service, entered chan struct{}, block chan struct{}) {
	entered, block = make(chan struct{}, 100), make(chan struct{})
	return &service{empty: func(ctx context.Context, _ int64) error {
		entered <- struct{}{}
		select {
		case <-block:
		case <-ctx.Done():
		}
		return ctx.Err()
	}}, entered, block
}

// A full server refuses at once, says when to come back, and answers the health
// service all the same (O-36).
func TestFullServer(t *testing.T) {
	s, entered, block := busy()
	g := guard(t, func(c *kalan.Config) { c.Limit, c.Checkout = limit.Fixed(1), -1 })
	_, target := serve(t, s, kalangrpc.Server{Guard: g}.Options()...)
	client := plain(t, target)
	done := make(chan error)
	go func() { _, err := ask(t.Context(), client); done <- err }()
	<-entered
	wait, err := ask(t.Context(), client)
	wantCode(t, err, codes.Unavailable, nil)
	if ms, _ := strconv.Atoi(wait); ms < 1 {
		t.Errorf("pushback %q, want a time to come back", wait)
	}
	if !strings.Contains(status.Convert(err).Message(), policy.Full.Error()) {
		t.Errorf("%v does not say why", err)
	}
	health := grpc_health_v1.NewHealthClient(dial(t, target))
	for range 20 {
		began := time.Now()
		if _, err := health.Check(t.Context(), &grpc_health_v1.HealthCheckRequest{}); err != nil || time.Since(began) > plenty {
			t.Fatalf("health: %v after %v", err, time.Since(began))
		}
	}
	close(block)
	if err := <-done; err != nil {
		t.Error(err)
	}
	if c := g.Snapshot().Counts; c.Calls != 2 {
		t.Errorf("%d calls at the guard, want the two that are not health's", c.Calls)
	}
	idle(t, g)
}

// Each reason has its code and its pushback.
func TestServerRefusals(t *testing.T) {
	s := &service{empty: func(context.Context, int64) error { return status.Error(codes.Internal, "broken") }}
	open := guard(t, func(c *kalan.Config) { c.Breaker.Calls = 1 })
	rate := guard(t, func(c *kalan.Config) { c.Rate, c.Breaker.Mode = .001, breaker.Disabled })
	for _, test := range []struct {
		g    *kalan.Guard
		code codes.Code
	}{{open, codes.Unavailable}, {rate, codes.ResourceExhausted}} {
		_, target := serve(t, s, kalangrpc.Server{Guard: test.g}.Options()...)
		client := plain(t, target)
		var wait string
		var err error
		for range 3 {
			wait, err = ask(t.Context(), client)
		}
		wantCode(t, err, test.code, nil)
		if ms, _ := strconv.Atoi(wait); ms < 100 {
			t.Errorf("%v: pushback %q, want a time to come back", test.code, wait)
		}
	}
}

// A handler that passes the guard's limit is answered DEADLINE_EXCEEDED, and
// nobody is asked to come back. Its slot is its own until it returns.
func TestHandlerPastItsLimit(t *testing.T) {
	s, _, _ := busy()
	g := guard(t, func(c *kalan.Config) { c.Exchange = 50 * time.Millisecond })
	_, target := serve(t, s, kalangrpc.Server{Guard: g}.Options()...)
	wait, err := ask(within(t, 10*time.Second), plain(t, target))
	wantCode(t, err, codes.DeadlineExceeded, nil)
	if wait != "-1" {
		t.Errorf("pushback %q, want -1", wait)
	}
	idle(t, g)
}

// A request that waits for a slot longer than its caller does never starts.
func TestExpiredRequestNeverStarts(t *testing.T) {
	s, entered, block := busy()
	g := guard(t, func(c *kalan.Config) { c.Limit, c.Checkout, c.Exchange = limit.Fixed(1), 5*time.Second, 10*time.Second })
	_, target := serve(t, s, kalangrpc.Server{Guard: g}.Options()...)
	client := plain(t, target)
	done := make(chan error)
	go func() { _, err := ask(t.Context(), client); done <- err }()
	<-entered
	_, err := ask(within(t, 50*time.Millisecond), client)
	wantCode(t, err, codes.DeadlineExceeded, nil)
	eventually(t, "the waiter is gone", func() bool { return g.Snapshot().Waiting == 0 })
	close(block)
	if err := <-done; err != nil || s.hits.Load() != 1 {
		t.Errorf("%d handlers ran, %v; want 1", s.hits.Load(), err)
	}
}

// grpc-timeout as others may write it, on a raw connection (O-10): eight digits
// of hours do not wrap into a deadline that is past, no time is no start, and
// nonsense is never "no deadline".
func TestTimeoutsOnTheWire(t *testing.T) {
	s := &service{empty: func(context.Context, int64) error { return nil }}
	_, target := serve(t, s, kalangrpc.Server{Guard: guard(t, nil)}.Options()...)
	for _, test := range []struct {
		timeout, status string
		hits            int64
	}{
		{"99999999H", "0", 1}, {"1H", "0", 1}, {"0S", "4", 0},
		{"100000000S", "", 0}, {"10", "", 0}, {"S", "", 0}, {"-5S", "", 0}, {"1.5S", "", 0}, {"5s", "", 0},
	} {
		got := post(t, target, test.timeout)
		if hits := s.hits.Swap(0); hits != test.hits || test.status != "" && got != test.status || got == "0" && test.status != "0" {
			t.Errorf("%q: status %q after %d handlers, want %q after %d", test.timeout, got, hits, test.status, test.hits)
		}
	}
}

// post sends one empty message by hand and returns the grpc-status, "" when
// there is none.
func post(t *testing.T, target, timeout string) string {
	t.Helper()
	transport := &http.Transport{Protocols: new(http.Protocols)}
	transport.Protocols.SetUnencryptedHTTP2(true)
	defer transport.CloseIdleConnections()
	request, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+target+emptyCall, bytes.NewReader(make([]byte, 5)))
	request.Header.Set("Content-Type", "application/grpc")
	request.Header.Set("Te", "trailers")
	request.Header.Set("Grpc-Timeout", timeout)
	answer, err := transport.RoundTrip(request)
	if err != nil {
		return "" // the stream was reset
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, answer.Body)
	return cmp.Or(answer.Trailer.Get("Grpc-Status"), answer.Header.Get("Grpc-Status"))
}

// A panic in a handler frees its slot and is not swallowed.
func TestPanicFreesTheSlot(t *testing.T) {
	s := &service{empty: func(context.Context, int64) error { panic("a defect") }}
	g := guard(t, nil)
	var caught any
	catch := func(ctx context.Context, req any, info *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (_ any, err error) {
		defer func() { caught, err = recover(), status.Error(codes.Internal, "a defect") }()
		return handle(ctx, req)
	}
	_, target := serve(t, s, append([]grpc.ServerOption{grpc.ChainUnaryInterceptor(catch)}, kalangrpc.Server{Guard: g}.Options()...)...)
	_, err := ask(t.Context(), plain(t, target))
	wantCode(t, err, codes.Internal, nil)
	if s := g.Snapshot(); caught != "a defect" || s.InFlight != 0 || s.Counts.Outcomes[policy.Failure] != 0 {
		t.Errorf("caught %v, %d in flight, %v", caught, s.InFlight, s.Counts.Outcomes)
	}
}

// Three layers, each with a guard that retries: only the outermost repeats, when
// those below trust it (F20, O-14). Where they do not, each layer repeats.
func TestRetriesHaveOneOwner(t *testing.T) {
	for _, test := range []struct {
		trust bool
		hits  int64
	}{{true, 2}, {false, 4}} {
		two := func(c *kalan.Config) { c.Retry.Attempts = 2 }
		var owner string
		backend := &service{empty: func(ctx context.Context, _ int64) error {
			md, _ := metadata.FromIncomingContext(ctx)
			owner = first(md, "x-retry-owner")
			return status.Error(codes.Unavailable, "down")
		}}
		inner := call(t, backend, kalangrpc.Client{Guard: guard(t, two), Repeatable: always, Owner: "inner"})
		var marked string
		middle := &service{empty: func(ctx context.Context, _ int64) error {
			md, _ := metadata.FromIncomingContext(ctx)
			marked = first(md, "x-retry-owner")
			_, err := inner.EmptyCall(ctx, &grpc_testing.Empty{})
			return err
		}}
		_, target := serve(t, middle, kalangrpc.Server{Guard: guard(t, nil), Trust: func(context.Context) bool { return test.trust }}.Options()...)
		outer := grpc_testing.NewTestServiceClient(dial(t, target,
			kalangrpc.Client{Guard: guard(t, two), Repeatable: always, Owner: "outer"}.Options()...))
		_, err := outer.EmptyCall(t.Context(), &grpc_testing.Empty{})
		wantCode(t, err, codes.Unavailable, nil)
		if (marked == "outer") != test.trust {
			t.Errorf("trust %v: the handler sees the mark %q", test.trust, marked)
		}
		want := map[bool]string{true: "outer", false: "inner"}[test.trust]
		if n := backend.hits.Load(); n != test.hits || owner != want {
			t.Errorf("trust %v: %d calls at the bottom, repeated by %q; want %d and %q", test.trust, n, owner, test.hits, want)
		}
	}
}

// A refusal of a guard that a handler asks is passed up with its code and its
// pushback, opens no breaker here, and names nobody's addresses.
func TestRefusalFromFurtherDown(t *testing.T) {
	down := &kalan.Rejection{Guard: "store", Reason: policy.Open, RetryAfter: 3 * time.Second,
		Cause: status.Error(codes.Unavailable, "dial 10.1.2.3")}
	s := &service{empty: func(context.Context, int64) error { return down }}
	g := guard(t, nil)
	_, target := serve(t, s, kalangrpc.Server{Guard: g}.Options()...)
	wait, err := ask(t.Context(), plain(t, target))
	wantCode(t, err, codes.Unavailable, nil)
	if ms, _ := strconv.Atoi(wait); ms < 3000 {
		t.Errorf("pushback %q, want at least 3000", wait)
	}
	if strings.Contains(err.Error(), "10.1.2.3") {
		t.Errorf("%v names an address", err)
	}
	if n := g.Snapshot().Counts.Outcomes[policy.Ignored]; n != 1 {
		t.Errorf("counted as %v, want ignored", g.Snapshot().Counts.Outcomes)
	}
}

// Who asks and how important it is reaches the guard, and the calls that the
// handler makes.
func TestAskTravels(t *testing.T) {
	var methods []string
	var brought kalan.Ask
	s := &service{empty: func(ctx context.Context, _ int64) error { brought = kalangrpc.AskOf(ctx); return nil }}
	server := kalangrpc.Server{Guard: guard(t, nil), Ask: func(_ context.Context, method string) kalan.Ask {
		methods = append(methods, method)
		return kalan.Ask{Level: 2, Flow: 7}
	}, Bypass: func(method string) bool { return method == duplex }}
	_, target := serve(t, s, server.Options()...)
	if _, err := ask(t.Context(), plain(t, target)); err != nil || len(methods) != 1 || methods[0] != emptyCall {
		t.Errorf("asked for %q, %v", methods, err)
	}
	if want := (kalan.Ask{Level: 2, Flow: 7}); brought != want || kalangrpc.AskOf(kalangrpc.WithAsk(t.Context(), want)) != want {
		t.Errorf("the handler's context brings %+v, want %+v", brought, want)
	}
}
