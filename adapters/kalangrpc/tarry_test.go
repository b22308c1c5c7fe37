package kalangrpc_test

import (
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/status"

	"github.com/kalan-go/kalan/adapters/kalangrpc"
	"github.com/kalan-go/kalan/policy"
)

// A program that neither sends nor receives for a while is not the service; one
// that does not answer is.
func TestWhoIsSlow(t *testing.T) {
	type conversation = grpc_testing.TestService_FullDuplexCallClient
	const (
		limit   = 2 * time.Second
		tarried = limit/2 + 100*time.Millisecond // past the slow threshold
	)
	pause := func(d time.Duration) {
		began := time.Now()
		eventually(t, "enough time has passed", func() bool { return time.Since(began) >= d })
	}
	ask := func(c conversation) { c.Send(&grpc_testing.StreamingOutputCallRequest{}) }
	for name, c := range map[string]struct {
		service, program time.Duration // before each message
		blamed           bool
	}{
		"the program":                   {program: tarried / 2},
		"the program, beyond the limit": {program: limit},
		"the service":                   {service: tarried / 2, blamed: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := guard(t, exchange(limit))
			client := call(t, &service{duplex: func(s grpc_testing.TestService_FullDuplexCallServer) error {
				for {
					if _, err := s.Recv(); err != nil {
						return nil
					}
					pause(c.service)
					s.Send(&grpc_testing.StreamingOutputCallResponse{})
				}
			}}, kalangrpc.Client{Guard: g})
			stream, err := client.FullDuplexCall(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				pause(c.program)
				ask(stream)
				if _, err := stream.Recv(); err != nil && status.Code(err) != codes.DeadlineExceeded {
					t.Error(err)
				}
			}
			stream.CloseSend()
			stream.Recv()
			idle(t, g)
			s := g.Snapshot()
			if c.blamed && (s.Breaker.Slow == 0 || s.Mean < tarried) {
				t.Errorf("the service is excused: mean %v, %+v", s.Mean, s.Breaker)
			}
			if !c.blamed && (s.Counts.Outcomes[policy.Cut] != 1 || s.Breaker.Slow > 0 || s.Mean > 0) {
				t.Errorf("the service is blamed: outcomes %v, mean %v, %+v", s.Counts.Outcomes, s.Mean, s.Breaker)
			}
		})
	}
}
