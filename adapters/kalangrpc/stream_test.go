package kalangrpc_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/status"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/adapters/kalangrpc"
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/limit"
)

// echo answers every message until the client is done.
func echo(stream grpc_testing.TestService_FullDuplexCallServer) error {
	for {
		if _, err := stream.Recv(); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		if err := stream.Send(&grpc_testing.StreamingOutputCallResponse{}); err != nil {
			return err
		}
	}
}

// talk opens a stream and has one message answered.
func talk(t *testing.T, ctx context.Context, client grpc_testing.TestServiceClient) grpc_testing.TestService_FullDuplexCallClient {
	t.Helper()
	stream, err := client.FullDuplexCall(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.Send(&grpc_testing.StreamingOutputCallRequest{}); err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Recv(); err != nil {
		t.Fatal(err)
	}
	return stream
}

// A client's stream holds its slot until it ends, however it ends.
func TestStreamHoldsItsSlot(t *testing.T) {
	for _, test := range []struct {
		name    string
		end     func(grpc_testing.TestService_FullDuplexCallClient, context.CancelFunc)
		outcome policy.Outcome
	}{
		{"read to its end", func(s grpc_testing.TestService_FullDuplexCallClient, _ context.CancelFunc) { s.CloseSend(); s.Recv() }, policy.Success},
		{"cancelled and never looked at again", func(_ grpc_testing.TestService_FullDuplexCallClient, cancel context.CancelFunc) { cancel() }, policy.Cut},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := guard(t, func(c *kalan.Config) { c.Limit, c.Checkout, c.Exchange = limit.Fixed(1), -1, 0 })
			client := call(t, &service{duplex: echo}, kalangrpc.Client{Guard: g})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			stream := talk(t, ctx, client)
			if n := g.Snapshot().InFlight; n != 1 {
				t.Errorf("%d slots taken by an open stream, want 1", n)
			}
			_, err := client.FullDuplexCall(t.Context())
			wantCode(t, err, codes.Unavailable, policy.Full)
			test.end(stream, cancel)
			idle(t, g)
			if n := g.Snapshot().Counts.Outcomes[test.outcome]; n != 1 {
				t.Errorf("outcomes %v, want one %v", g.Snapshot().Counts.Outcomes, test.outcome)
			}
		})
	}
}

// A long stream gives its slot back with its first message and outlives the
// exchange limit; until then the limit holds.
func TestLongStream(t *testing.T) {
	g := guard(t, func(c *kalan.Config) { c.Limit, c.Exchange = limit.Fixed(1), brief })
	client := call(t, &service{duplex: echo}, kalangrpc.Client{Guard: g, Long: always})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stream := talk(t, ctx, client)
	if n := g.Snapshot().InFlight; n != 0 {
		t.Errorf("%d slots taken by a long stream that has begun, want none", n)
	}
	second := talk(t, ctx, client)
	limit := time.Now().Add(2 * brief)
	eventually(t, "twice the limit has passed", func() bool { return time.Now().After(limit) })
	for _, s := range []grpc_testing.TestService_FullDuplexCallClient{stream, second} {
		if err := s.Send(&grpc_testing.StreamingOutputCallRequest{}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Recv(); err != nil {
			t.Errorf("a long stream after twice the limit: %v", err)
		}
	}
}

// A header is an answer too: a watch that has nothing to tell yet has begun.
func TestLongStreamBeginsWithItsHeader(t *testing.T) {
	watch := func(s grpc_testing.TestService_FullDuplexCallServer) error {
		if err := s.SendHeader(nil); err != nil {
			return err
		}
		<-s.Context().Done()
		return s.Context().Err()
	}
	g := guard(t, nil)
	client := call(t, &service{duplex: watch}, kalangrpc.Client{Guard: g, Long: always})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stream, err := client.FullDuplexCall(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Header(); err != nil || g.Snapshot().InFlight != 0 {
		t.Errorf("%v, %d slots taken by a stream that has answered", err, g.Snapshot().InFlight)
	}
}

// A long stream that never begins to answer is cut at the limit.
func TestLongStreamThatHangs(t *testing.T) {
	hang := func(s grpc_testing.TestService_FullDuplexCallServer) error {
		<-s.Context().Done()
		return s.Context().Err()
	}
	g := guard(t, func(c *kalan.Config) { c.Exchange = brief })
	client := call(t, &service{duplex: hang}, kalangrpc.Client{Guard: g, Long: always})
	stream, err := client.FullDuplexCall(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Recv(); err == nil {
		t.Error("a stream that hangs has answered")
	}
	idle(t, g)
}

// A stream that passes the exchange limit is cut and is the server's failure.
func TestStreamPastItsLimit(t *testing.T) {
	hang := func(s grpc_testing.TestService_FullDuplexCallServer) error {
		<-s.Context().Done()
		return s.Context().Err()
	}
	g := guard(t, func(c *kalan.Config) { c.Exchange = brief })
	client := call(t, &service{duplex: hang}, kalangrpc.Client{Guard: g})
	stream, err := client.FullDuplexCall(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, err = stream.Recv()
	wantCode(t, err, codes.DeadlineExceeded, nil)
	idle(t, g)
	if n := g.Snapshot().Counts.Outcomes[policy.Failure]; n != 1 {
		t.Errorf("outcomes %v, want one failure", g.Snapshot().Counts.Outcomes)
	}
}

// A connection that breaks under a stream: grpc-go raises UNAVAILABLE, the
// breaker hears of it, and nothing is retried behind the reader's back.
func TestStreamCutByTheServer(t *testing.T) {
	s := &service{duplex: echo}
	server, target := serve(t, s)
	g := guard(t, func(c *kalan.Config) { c.Exchange = 0 })
	client := grpc_testing.NewTestServiceClient(dial(t, target, kalangrpc.Client{Guard: g, Repeatable: always}.Options()...))
	stream := talk(t, t.Context(), client)
	server.Stop()
	_, err := stream.Recv()
	wantCode(t, err, codes.Unavailable, nil)
	idle(t, g)
	if o := g.Snapshot().Counts.Outcomes; o[policy.Failure] != 1 || s.hits.Load() != 1 {
		t.Errorf("outcomes %v after %d openings, want one failure after one", o, s.hits.Load())
	}
}

// A server's stream holds its slot while its handler runs; a long one needs a
// slot to begin.
func TestServerStreams(t *testing.T) {
	for _, long := range []bool{false, true} {
		g := guard(t, func(c *kalan.Config) { c.Limit, c.Checkout, c.Exchange = limit.Fixed(1), -1, 0 })
		_, target := serve(t, &service{duplex: echo}, kalangrpc.Server{Guard: g, Long: func(string) bool { return long }}.Options()...)
		client := plain(t, target)
		stream := talk(t, t.Context(), client)
		second, err := client.FullDuplexCall(t.Context())
		if err == nil {
			second.CloseSend()
			_, err = second.Recv()
		}
		if long && !errors.Is(err, io.EOF) || !long && status.Code(err) != codes.Unavailable {
			t.Errorf("long %v: the second stream ended with %v", long, err)
		}
		if wait := first(second.Trailer(), "grpc-retry-pushback-ms"); (wait == "") != long {
			t.Errorf("long %v: pushback %q", long, wait)
		}
		stream.CloseSend()
		if _, err := stream.Recv(); !errors.Is(err, io.EOF) {
			t.Errorf("long %v: the first stream ended with %v", long, err)
		}
		idle(t, g)
		if shot := g.Snapshot(); long && (shot.Counts.Outcomes[policy.Success] != 0 || shot.Mean != 0) {
			t.Errorf("streams that only began are taken for answers: %v, mean %v", shot.Counts.Outcomes, shot.Mean)
		}
	}
}
