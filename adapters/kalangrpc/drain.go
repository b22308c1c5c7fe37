package kalangrpc

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/kalan-go/kalan/drain"
	comeback "github.com/kalan-go/kalan/internal/refusal"
	"github.com/kalan-go/kalan/policy"
)

// Steps returns how a gRPC server leaves, for drain.Drain.Run: it says GOAWAY and
// finishes what is in flight, and what is left at the end of the time is cut.
// Set Leave to the health server's Shutdown where there is one.
func Steps(server *grpc.Server) drain.Steps {
	stop := func() error {
		server.Stop()
		return nil
	}
	finish := func(ctx context.Context) error {
		defer context.AfterFunc(ctx, server.Stop)()
		server.GracefulStop()
		return nil
	}
	return drain.Steps{Finish: finish, Close: stop}
}

// join makes a call a piece of the drain's work, if there is a drain. It reports
// whether the call is taken.
func (s *Server) join() bool { return s.Drain == nil || s.Drain.Enter() }

// exit ends that.
func (s *Server) exit() {
	if s.Drain != nil {
		s.Drain.Exit()
	}
}

// leaving is the answer to what is not taken any more.
func leaving() (metadata.MD, error) {
	return metadata.Pairs(pushbackKey, milliseconds(comeback.Spread(policy.None, 0))),
		status.Error(codes.Unavailable, "the server is leaving; another one serves")
}

// untilFinish returns a context for a long stream, which ends when the server
// takes nothing new: the stream has no end of its own that could be waited for.
func (s *Server) untilFinish(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	if s.Drain != nil {
		go func() {
			select {
			case <-s.Drain.Finishing():
				cancel()
			case <-ctx.Done():
			}
		}()
	}
	return ctx, cancel
}
