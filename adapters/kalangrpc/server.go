package kalangrpc

import (
	"context"
	"errors"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/drain"
	"github.com/kalan-go/kalan/internal/carry"
	"github.com/kalan-go/kalan/policy"
)

// A Server protects the handlers of one gRPC server. Fill in Guard and take its
// Options; the zero value of every other field means its documented default.
//
// The guard's breaker hears of the handlers' failures and of their slowness. A
// server that should refuse by its queue alone, which is what most should do
// (docs/adr/0032), has one that was made with kalanhttp.ForServer.
type Server struct {
	// Guard stands before the handlers. It is required.
	Guard *kalan.Guard
	// Bypass says which methods bypass the guard, besides those of the health
	// service. nil means no others.
	Bypass func(method string) bool
	// Long says which streams live long: they need a slot to begin, and none
	// after that. nil means none.
	Long func(method string) bool
	// Judge says what a handler's status tells of this server. nil means
	// [Judge].
	Judge func(codes.Code) policy.Outcome
	// Ask says what a request brings: its priority and its tenant. nil means
	// level 1, which may be shed, and no tenant. Calls through a [Client] with
	// the handler's context bring the same.
	Ask func(ctx context.Context, method string) kalan.Ask
	// Trust says whether the peer's x-retry-owner is believed (the peer is in
	// ctx, see package peer). nil means nobody's is.
	Trust func(ctx context.Context) bool
	// Drain is the way out of the process (F6): when it takes nothing new, calls
	// are refused with UNAVAILABLE, and the context of a long stream ends. Give
	// its Run the [Steps] of the grpc.Server. nil means that nobody leaves.
	Drain *drain.Drain
}

// Options returns what grpc.NewServer needs: both interceptors. Without a Guard
// it panics.
func (s Server) Options() []grpc.ServerOption {
	return []grpc.ServerOption{
		grpc.ChainUnaryInterceptor(s.Unary()),
		grpc.ChainStreamInterceptor(s.Stream()),
	}
}

func (s Server) withDefaults() Server {
	if s.Guard == nil {
		panic("kalangrpc: a Server needs a Guard; make one with kalan.New")
	}
	if s.Judge == nil {
		s.Judge = Judge
	}
	return s
}

// healthService is asked by those who decide whether this process lives: under
// load it must answer all the more (O-36).
const healthService = "/grpc.health.v1.Health/"

func (s *Server) bypasses(method string) bool {
	return strings.HasPrefix(method, healthService) || s.Bypass != nil && s.Bypass(method)
}

// usual is the level of a request of which nobody says one.
const usual = 1

// enter reads what the request brings, for itself and for the calls that are
// made for it. No handler is repeated here, whoever repeats calls.
func (s *Server) enter(ctx context.Context, method string) (context.Context, kalan.Ask) {
	ctx, owner := inherit(ctx, s.Trust != nil && s.Trust(ctx))
	ask := kalan.Ask{Level: usual}
	if s.Ask != nil {
		ask = s.Ask(ctx, method)
	}
	on := carry.Asked[kalan.Ask]{Ask: ask, Owner: owner}
	on.Ask.Once = ask.Once || owner != ""
	ask.Once = true
	return carry.With(ctx, on), ask
}

// Unary returns the interceptor of calls with one reply.
func (s Server) Unary() grpc.UnaryServerInterceptor {
	s = s.withDefaults()
	return func(ctx context.Context, req any, info *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
		if s.bypasses(info.FullMethod) {
			return handle(ctx, req)
		}
		if !s.join() {
			trailer, err := leaving()
			_ = grpc.SetTrailer(ctx, trailer)
			return nil, err
		}
		defer s.exit()
		ctx, ask := s.enter(ctx, info.FullMethod)
		way := kalan.Way[any]{Ask: ask, Judge: func(_ any, err error) policy.Report { return handled(err, s.Judge) }}
		reply, held, err := kalan.Hold(ctx, s.Guard, way, func(ctx context.Context) (any, error) { return handle(ctx, req) })
		if err != nil {
			trailer, err := refuse(err)
			_ = grpc.SetTrailer(ctx, trailer) // fails only where no server is
			return nil, err
		}
		held.Release(policy.Success)
		return reply, nil
	}
}

// Stream returns the interceptor of streams.
func (s Server) Stream() grpc.StreamServerInterceptor {
	s = s.withDefaults()
	return func(srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo, handle grpc.StreamHandler) error {
		if s.bypasses(info.FullMethod) {
			return handle(srv, ss)
		}
		if !s.join() {
			trailer, err := leaving()
			ss.SetTrailer(trailer)
			return err
		}
		defer s.exit()
		ctx, ask := s.enter(ss.Context(), info.FullMethod)
		run := s.hold
		if s.Long != nil && s.Long(info.FullMethod) {
			run = s.admit
		}
		err := run(ctx, ask, func(ctx context.Context) error { return handle(srv, contextual{ss, ctx}) })
		if err == nil {
			return nil
		}
		trailer, err := refuse(err)
		ss.SetTrailer(trailer)
		return err
	}
}

// hold runs a stream in a slot of its own.
func (s *Server) hold(ctx context.Context, ask kalan.Ask, run func(context.Context) error) error {
	way := kalan.Way[struct{}]{Ask: ask, Judge: func(_ struct{}, err error) policy.Report { return handled(err, s.Judge) }}
	_, held, err := kalan.Hold(ctx, s.Guard, way, func(ctx context.Context) (struct{}, error) { return struct{}{}, run(ctx) })
	held.Release(policy.Success)
	return err
}

// admit runs a stream that needed a slot to begin. What begins says nothing
// yet: neither how long the work takes nor how it ends.
func (s *Server) admit(ctx context.Context, ask kalan.Ask, run func(context.Context) error) error {
	way := kalan.Way[struct{}]{Ask: ask, Judge: func(struct{}, error) policy.Report { return policy.Report{} }}
	_, held, err := kalan.Hold(ctx, s.Guard, way, func(context.Context) (struct{}, error) { return struct{}{}, nil })
	if err != nil {
		return err
	}
	held.Release(policy.Cut)
	ctx, cancel := s.untilFinish(ctx)
	defer cancel()
	return run(ctx)
}

// refuse turns a guard's refusal into a trailer and a status, this guard's or
// that of one which a handler has asked.
func refuse(err error) (metadata.MD, error) {
	var rejected *kalan.Rejection
	if !errors.As(err, &rejected) {
		return nil, err
	}
	return pushbackOf(rejected), publicly(rejected)
}

// contextual is a stream whose handler has a context of its own.
type contextual struct {
	grpc.ServerStream
	ctx context.Context
}

// Context returns the handler's.
func (c contextual) Context() context.Context { return c.ctx }
