package kalangrpc_test

import (
	"context"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/status"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/adapters/kalangrpc"
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/limit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	emptyCall = "/grpc.testing.TestService/EmptyCall"
	duplex    = "/grpc.testing.TestService/FullDuplexCall"
)

// A service is a real gRPC service whose methods the test writes.
type service struct {
	grpc_testing.UnimplementedTestServiceServer
	hits   atomic.Int64
	empty  func(context.Context, int64) error // told which hit it is, from 1
	duplex func(grpc_testing.TestService_FullDuplexCallServer) error
}

func (s *service) EmptyCall(ctx context.Context, in *grpc_testing.Empty) (*grpc_testing.Empty, error) {
	if err := s.empty(ctx, s.hits.Add(1)); err != nil {
		return nil, err
	}
	return in, nil
}

func (s *service) FullDuplexCall(stream grpc_testing.TestService_FullDuplexCallServer) error {
	s.hits.Add(1)
	return s.duplex(stream)
}

// serve runs a real server for the service and returns its address.
func serve(t *testing.T, s *service, options ...grpc.ServerOption) (*grpc.Server, string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(options...)
	grpc_testing.RegisterTestServiceServer(server, s)
	grpc_health_v1.RegisterHealthServer(server, health.NewServer())
	done := make(chan struct{})
	go func() { defer close(done); _ = server.Serve(l) }()
	t.Cleanup(func() { server.Stop(); <-done })
	return server, l.Addr().String()
}

// dial returns a real client.
func dial(t *testing.T, target string, options ...grpc.DialOption) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient(target, append(options, grpc.WithTransportCredentials(insecure.NewCredentials()))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// call is serve and dial: a client behind c's guard. It is connected, so that no
// call's limit is spent on that.
func call(t *testing.T, s *service, c kalangrpc.Client) grpc_testing.TestServiceClient {
	t.Helper()
	_, target := serve(t, s)
	conn := dial(t, target, c.Options()...)
	conn.Connect()
	eventually(t, "the client is connected", func() bool { return conn.GetState() == connectivity.Ready })
	return grpc_testing.NewTestServiceClient(conn)
}

// brief is a limit that a test lets pass, and yet long for what begins in it.
const brief = 500 * time.Millisecond

// exchange limits one attempt.
func exchange(d time.Duration) func(*kalan.Config) { return func(c *kalan.Config) { c.Exchange = d } }

// guard returns a guard that retries at once, up to four attempts.
func guard(t testing.TB, changes ...func(*kalan.Config)) *kalan.Guard {
	t.Helper()
	c := kalan.Config{Name: "prices"}
	c.Exchange = plenty
	c.Retry.Attempts, c.Retry.Base = 4, time.Millisecond
	c.Budget.Ratio = 100 // these tests are not about the budget
	c.Limit = limit.Fixed(25)
	for _, change := range changes {
		if change != nil {
			change(&c)
		}
	}
	g, err := kalan.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func always(string) bool { return true }

func within(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

func wantCode(t *testing.T, err error, code codes.Code, why error) {
	t.Helper()
	if status.Code(err) != code {
		t.Errorf("status %v (%v), want %v", status.Code(err), err, code)
	}
	if is := kalanReason(err); is != why {
		t.Errorf("reason %v (%v), want %v", is, err, why)
	}
}

// kalanReason returns the reason of a Rejection in err's chain, nil when there
// is none.
func kalanReason(err error) error {
	for why := range policy.Reasons {
		if r := policy.Reason(why); r != policy.None && errorsIs(err, r) {
			return r
		}
	}
	return nil
}

// idle waits until no slot is taken: a server's handler ends after its client
// has its answer.
func idle(t *testing.T, g *kalan.Guard) {
	t.Helper()
	eventually(t, "every slot is free", func() bool { return g.Snapshot().InFlight == 0 })
}

// eventually asks again until the answer is yes.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	limit := time.After(10 * time.Second)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("not so within 10s: %s", what)
		}
	}
}
