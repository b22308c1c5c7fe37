package kalangrpc_test

import (
	"context"
	"errors"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/adapters/kalangrpc"
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/limit"
	"github.com/kalan-go/kalan/policy/retry"
)

func errorsIs(err, target error) bool { return errors.Is(err, target) }

// Two attempts fail and the third answers: each says how many came before it,
// and all say who repeats.
func TestRepeatableMethodsAreRetried(t *testing.T) {
	var mu sync.Mutex
	var previous, owners []string
	s := &service{empty: func(ctx context.Context, n int64) error {
		md, _ := metadata.FromIncomingContext(ctx)
		mu.Lock()
		defer mu.Unlock()
		previous = append(previous, first(md, "grpc-previous-rpc-attempts"))
		owners = append(owners, first(md, "x-retry-owner"))
		if n < 3 {
			return status.Error(codes.Unavailable, "not now")
		}
		return nil
	}}
	g := guard(t, nil)
	client := call(t, s, kalangrpc.Client{Guard: g, Repeatable: always})
	if _, err := client.EmptyCall(t.Context(), &grpc_testing.Empty{}); err != nil {
		t.Fatal(err)
	}
	if n := g.Snapshot().InFlight; n != 0 {
		t.Errorf("%d slots taken after the answer", n)
	}
	if want := []string{"", "1", "2"}; !slices.Equal(previous, want) {
		t.Errorf("previous attempts %q, want %q", previous, want)
	}
	if want := []string{"kalan", "kalan", "kalan"}; !slices.Equal(owners, want) {
		t.Errorf("owners %q, want %q", owners, want)
	}
}

func first(md metadata.MD, key string) string {
	if values := md.Get(key); len(values) > 0 {
		return values[0]
	}
	return ""
}

// What each code leads to, with a method that may be repeated and one that may
// not (O-17): how often the server is called, and whether the breaker hears of
// a failure.
func TestWhatACodeLeadsTo(t *testing.T) {
	for _, test := range []struct {
		code         codes.Code
		safe, unsafe int64
		outcome      policy.Outcome
	}{
		{codes.Unavailable, 4, 1, policy.Failure},
		{codes.DeadlineExceeded, 4, 1, policy.Failure},
		{codes.Internal, 1, 1, policy.Failure},
		{codes.DataLoss, 1, 1, policy.Failure},
		{codes.ResourceExhausted, 1, 1, policy.Ignored},
		{codes.Unknown, 1, 1, policy.Ignored},
		{codes.Canceled, 1, 1, policy.Ignored},
		{codes.Aborted, 1, 1, policy.Ignored},
		{codes.InvalidArgument, 1, 1, policy.Ignored},
		{codes.PermissionDenied, 1, 1, policy.Ignored},
		{codes.Unimplemented, 1, 1, policy.Ignored},
		{codes.NotFound, 1, 1, policy.Success},
		{codes.AlreadyExists, 1, 1, policy.Success},
	} {
		for _, repeatable := range []bool{true, false} {
			s := &service{empty: func(context.Context, int64) error { return status.Error(test.code, "said the server") }}
			g := guard(t, nil)
			client := call(t, s, kalangrpc.Client{Guard: g, Repeatable: func(string) bool { return repeatable }})
			_, err := client.EmptyCall(t.Context(), &grpc_testing.Empty{})
			want := test.unsafe
			if repeatable {
				want = test.safe
			}
			if got := s.hits.Load(); got != want || status.Code(err) != test.code {
				t.Errorf("%v, repeatable %v: %d calls and %v, want %d calls", test.code, repeatable, got, err, want)
			}
			if n := g.Snapshot().Counts.Outcomes[test.outcome]; n != uint64(want) {
				t.Errorf("%v: %v counted as %v of %d attempts", test.code, g.Snapshot().Counts.Outcomes, test.outcome, want)
			}
		}
	}
}

// A server that hangs: grpc-go raises DEADLINE_EXCEEDED at the attempt's limit,
// and the server was told of that limit (F10).
func TestHangingServer(t *testing.T) {
	told := make(chan time.Duration, 1)
	s := &service{empty: func(ctx context.Context, _ int64) error {
		until, _ := ctx.Deadline()
		told <- time.Until(until)
		<-ctx.Done()
		return ctx.Err()
	}}
	g := guard(t, func(c *kalan.Config) { c.Exchange = brief })
	client := call(t, s, kalangrpc.Client{Guard: g})
	began := time.Now()
	_, err := client.EmptyCall(within(t, 10*time.Second), &grpc_testing.Empty{})
	wantCode(t, err, codes.DeadlineExceeded, policy.Timeout)
	if took := time.Since(began); took < brief || took > 9*time.Second {
		t.Errorf("took %v with a limit of %v", took, brief)
	}
	if left := <-told; left > brief {
		t.Errorf("the server was told %v of a limit of %v", left, brief)
	}
	if s := g.Snapshot(); s.Counts.Timeouts != 1 || s.InFlight != 0 {
		t.Errorf("%d timeouts, %d in flight; want 1 and 0", s.Counts.Timeouts, s.InFlight)
	}
}

// The second hop gets what is left of the first one's time less the margin, and
// never more (O-18). A caller with less time than the margin calls nobody.
func TestRemainingTimeTravels(t *testing.T) {
	told := make(chan time.Duration, 1)
	s := &service{empty: func(ctx context.Context, _ int64) error {
		until, _ := ctx.Deadline()
		told <- time.Until(until)
		return nil
	}}
	g := guard(t, func(c *kalan.Config) { c.Exchange = 10 * time.Second })
	client := call(t, s, kalangrpc.Client{Guard: g, Margin: 100 * time.Millisecond})
	if _, err := client.EmptyCall(within(t, time.Second), &grpc_testing.Empty{}); err != nil {
		t.Fatal(err)
	}
	if left := <-told; left > 900*time.Millisecond {
		t.Errorf("the server was told %v, want at most 1s - 100ms", left)
	}
	_, err := client.EmptyCall(within(t, 50*time.Millisecond), &grpc_testing.Empty{})
	wantCode(t, err, codes.DeadlineExceeded, policy.Expired)
	if n := s.hits.Load(); n != 1 {
		t.Errorf("%d calls, want 1: the second has no time left", n)
	}
}

// A retry that cannot fit into the caller's time is not waited for: the answer
// is what the server said, and it says that time was the reason (O-15).
func TestRetryThatDoesNotFit(t *testing.T) {
	s := &service{empty: func(context.Context, int64) error { return status.Error(codes.Unavailable, "down") }}
	g := guard(t, func(c *kalan.Config) {
		c.Retry.Base, c.Retry.Cap, c.Retry.Jitter = time.Hour, time.Hour, retry.Constant
	})
	client := call(t, s, kalangrpc.Client{Guard: g, Repeatable: always})
	began := time.Now()
	_, err := client.EmptyCall(within(t, 20*time.Second), &grpc_testing.Empty{})
	wantCode(t, err, codes.Unavailable, policy.Expired)
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("waited %v for a retry in an hour", took)
	}
}

// A caller's own deadline or cancellation is no news about the server (O-07).
func TestCallersWhoLeaveBlameNobody(t *testing.T) {
	entered := make(chan struct{}, 1)
	s := &service{empty: func(ctx context.Context, _ int64) error { entered <- struct{}{}; <-ctx.Done(); return ctx.Err() }}
	g := guard(t, func(c *kalan.Config) { c.Exchange = 10 * time.Second })
	client := call(t, s, kalangrpc.Client{Guard: g})
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-entered; cancel() }()
	_, err := client.EmptyCall(ctx, &grpc_testing.Empty{})
	wantCode(t, err, codes.Canceled, policy.Gone)
	_, err = client.EmptyCall(within(t, 100*time.Millisecond), &grpc_testing.Empty{})
	wantCode(t, err, codes.DeadlineExceeded, policy.Expired)
	if n := g.Snapshot().Counts.Outcomes[policy.Failure]; n != 0 {
		t.Errorf("%d failures, want none", n)
	}
}

// Pushback is obeyed: the wait, "not again", nonsense, and one that is longer
// than anybody waits (gRFC A6, O-09).
func TestPushbackIsObeyed(t *testing.T) {
	for _, test := range []struct {
		name    string
		values  []string
		hits    int64
		atLeast time.Duration
	}{
		{"a wait", []string{"150"}, 2, 150 * time.Millisecond},
		{"none at all", []string{"0"}, 2, 0},
		{"not again", []string{"-1"}, 1, 0},
		{"nonsense", []string{"soon"}, 1, 0},
		{"two of them", []string{"1", "1"}, 1, 0},
		{"too long", []string{"2147483647"}, 1, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := &service{empty: func(ctx context.Context, n int64) error {
				if n > 1 {
					return nil
				}
				_ = grpc.SetTrailer(ctx, metadata.MD{"grpc-retry-pushback-ms": test.values})
				return status.Error(codes.ResourceExhausted, "later")
			}}
			client := call(t, s, kalangrpc.Client{Guard: guard(t, nil), Repeatable: always})
			began := time.Now()
			_, err := client.EmptyCall(t.Context(), &grpc_testing.Empty{})
			took := time.Since(began)
			if (err == nil) != (test.hits == 2) || s.hits.Load() != test.hits || took < test.atLeast || took > plenty {
				t.Errorf("%d calls in %v, %v; want %d in no less than %v", s.hits.Load(), took, err, test.hits, test.atLeast)
			}
		})
	}
}

// A payment that was never sent, because nobody took the connection, is sent
// again; so is it opened again as a stream.
func TestWhatWasNeverSentIsRepeated(t *testing.T) {
	s := &service{empty: func(context.Context, int64) error { return nil },
		duplex: func(grpc_testing.TestService_FullDuplexCallServer) error { return nil }}
	_, target := serve(t, s)
	for _, method := range []string{"call", "stream"} {
		g := guard(t, func(c *kalan.Config) { c.Retry.Attempts, c.Retry.Base = 10, 100*time.Millisecond })
		// Until something is repeated: a client that has connected again before its
		// call looks has nothing to repeat.
		refuse := func(ctx context.Context, addr string) (net.Conn, error) {
			if g.Snapshot().Counts.Retries == 0 {
				return nil, &net.OpError{Op: "dial", Err: errors.New("connection refused")}
			}
			return new(net.Dialer).DialContext(ctx, "tcp", addr)
		}
		quick := grpc.ConnectParams{Backoff: backoff.Config{BaseDelay: time.Millisecond, MaxDelay: time.Millisecond}, MinConnectTimeout: time.Second}
		conn := dial(t, target, append(kalangrpc.Client{Guard: g}.Options(), grpc.WithContextDialer(refuse), grpc.WithConnectParams(quick))...)
		client := grpc_testing.NewTestServiceClient(conn)
		var err error
		if method == "call" {
			_, err = client.EmptyCall(t.Context(), &grpc_testing.Empty{})
		} else {
			var stream grpc_testing.TestService_FullDuplexCallClient
			if stream, err = client.FullDuplexCall(t.Context()); err == nil {
				_, err = stream.Recv()
			}
			if err != nil && err.Error() == "EOF" {
				err = nil
			}
		}
		if counts := g.Snapshot().Counts; err != nil || counts.Retries == 0 || s.hits.Swap(0) != 1 {
			t.Errorf("%s: %v after %d retries, want one success after at least one", method, err, counts.Retries)
		}
	}
}

// Refusals have a status that gRPC understands and a reason that Kalan's users
// do, and the server is not called.
func TestRefusalsHaveAStatus(t *testing.T) {
	block := make(chan struct{})
	entered := make(chan struct{}, 1)
	s := &service{empty: func(context.Context, int64) error { entered <- struct{}{}; <-block; return nil }}
	g := guard(t, func(c *kalan.Config) { c.Limit, c.Checkout = limit.Fixed(1), -1 })
	client := call(t, s, kalangrpc.Client{Guard: g})
	done := make(chan error)
	go func() { _, err := client.EmptyCall(t.Context(), &grpc_testing.Empty{}); done <- err }()
	<-entered
	_, err := client.EmptyCall(t.Context(), &grpc_testing.Empty{})
	wantCode(t, err, codes.Unavailable, policy.Full)
	close(block)
	if err := <-done; err != nil {
		t.Error(err)
	}
	g = guard(t, func(c *kalan.Config) { c.Rate = .001 })
	client = call(t, s, kalangrpc.Client{Guard: g})
	for range 2 {
		_, err = client.EmptyCall(t.Context(), &grpc_testing.Empty{})
	}
	wantCode(t, err, codes.ResourceExhausted, policy.Rate)
	if n := s.hits.Load(); n != 2 {
		t.Errorf("%d calls reached the server, want 2", n)
	}
}

// An open breaker refuses at once.
func TestOpenBreaker(t *testing.T) {
	s := &service{empty: func(context.Context, int64) error { return status.Error(codes.Internal, "broken") }}
	g := guard(t, func(c *kalan.Config) { c.Breaker.Calls = 3 })
	client := call(t, s, kalangrpc.Client{Guard: g})
	var err error
	for range 20 {
		_, err = client.EmptyCall(t.Context(), &grpc_testing.Empty{})
	}
	wantCode(t, err, codes.Unavailable, policy.Open)
	if n := s.hits.Load(); n >= 20 {
		t.Errorf("all %d calls reached a server that answers INTERNAL", n)
	}
}
