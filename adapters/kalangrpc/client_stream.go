package kalangrpc

import (
	"context"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/internal/pardon"
	"github.com/kalan-go/kalan/policy"
)

// Stream returns the interceptor of streams.
func (c Client) Stream() grpc.StreamClientInterceptor {
	c = c.withDefaults()
	return func(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, streamer grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
		s := &stream{call: c.begin(ctx, method), caller: keepBack(ctx, c.Margin)}
		s.long = c.Long != nil && c.Long(method)
		way := kalan.Way[grpc.ClientStream]{Judge: s.judge, Ask: s.ask}
		opened, held, err := kalan.Hold(s.caller, c.Guard, way, func(ctx context.Context) (grpc.ClientStream, error) {
			return s.open(ctx, desc, cc, streamer, opts)
		})
		if err != nil {
			return nil, answer(err)
		}
		s.tenure.begin(held, pardon.After(c.Guard.Config()))
		return opened, nil
	}
}

// A stream is one stream of the client's.
type stream struct {
	call
	grpc.ClientStream
	caller context.Context
	long   bool
	tenure *tenure
	begun  func() // takes the limit off a long stream
}

// open makes one attempt to open the stream. grpc-go says when it has ended,
// whoever ended it: its last message, its error, its context, its connection.
func (s *stream) open(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, streamer grpc.Streamer, opts []grpc.CallOption) (grpc.ClientStream, error) {
	n := kalan.AttemptOf(ctx).Number
	cancel := context.CancelFunc(func() {})
	t := new(tenure)
	s.tenure = t
	if s.long {
		ctx, cancel = s.unlimited(ctx)
	}
	opened, err := streamer(marked(ctx, n, s.owner), desc, cc, s.method, append(opts[:len(opts):len(opts)],
		grpc.OnFinish(func(err error) {
			cancel()
			t.end(s.outcome(err))
		}))...)
	if err != nil {
		cancel()
		return nil, err
	}
	s.ClientStream = opened
	return s, nil
}

// unlimited returns a context that ends with the attempt's until the stream has
// begun to answer, and with its caller's after that.
func (s *stream) unlimited(attempt context.Context) (context.Context, context.CancelFunc) {
	life, cancel := context.WithCancel(s.caller)
	stop := context.AfterFunc(attempt, cancel)
	t := s.tenure
	s.begun = sync.OnceFunc(func() {
		stop()
		t.end(policy.Success)
	})
	return life, cancel
}

// judge judges the opening. What could not be opened has sent nothing.
func (s *stream) judge(_ grpc.ClientStream, err error) policy.Report {
	if err == nil {
		return policy.Report{Outcome: policy.Success}
	}
	var none attempt
	return none.report(err, s.Client.Judge(status.Code(err)), s.repeatable)
}

// outcome judges the end.
func (s *stream) outcome(err error) policy.Outcome {
	o := s.Client.Judge(status.Code(err))
	if o == policy.Success {
		return o
	}
	until, limited := s.caller.Deadline()
	if s.caller.Err() != nil || limited && !time.Now().Before(until) {
		return policy.Cut
	}
	return o
}

// RecvMsg receives a message.
func (s *stream) RecvMsg(m any) error {
	s.tenure.enter()
	defer s.tenure.leave()
	err := s.ClientStream.RecvMsg(m)
	if err == nil && s.long {
		s.begun()
	}
	return err
}

// Header returns the header: of a long stream an answer too.
func (s *stream) Header() (metadata.MD, error) {
	s.tenure.enter()
	defer s.tenure.leave()
	md, err := s.ClientStream.Header()
	if err == nil && md != nil && s.long {
		s.begun()
	}
	return md, err
}

// SendMsg sends a message, when the service has room for it.
func (s *stream) SendMsg(m any) error {
	s.tenure.enter()
	defer s.tenure.leave()
	return s.ClientStream.SendMsg(m)
}

// A tenure is a slot that a stream holds. It may end before it is known to
// have begun: grpc-go tells of the end on goroutines of its own.
type tenure struct {
	mu      sync.Mutex
	held    kalan.Held
	begun   bool
	over    bool
	outcome policy.Outcome

	pardon pardon.Pardon // for a program that neither sends nor receives
	turn   sync.Mutex    // guards busy
	busy   int           // how many do
}

func (t *tenure) begin(held kalan.Held, after time.Duration) {
	t.mu.Lock()
	t.held, t.begun = held, true
	over, outcome := t.over, t.outcome
	if !over {
		t.pardon.Open(after, &t.held)
		t.pardon.Begin()
	}
	t.mu.Unlock()
	if over {
		held.Release(outcome)
	}
}

// enter says that the service is waited for.
func (t *tenure) enter() {
	t.turn.Lock()
	defer t.turn.Unlock()
	if t.busy++; t.busy == 1 {
		t.pardon.End()
	}
}

// leave says that one who waited for it does not any more; when nobody does, it
// is the program that is waited for.
func (t *tenure) leave() {
	t.turn.Lock()
	defer t.turn.Unlock()
	if t.busy--; t.busy == 0 {
		t.pardon.Begin()
	}
}

// end gives the slot back; only the first end counts.
func (t *tenure) end(o policy.Outcome) {
	t.mu.Lock()
	if t.over {
		t.mu.Unlock()
		return
	}
	t.over, t.outcome = true, o
	begun, held := t.begun, t.held
	t.mu.Unlock()
	if begun {
		t.pardon.Stop()
		held.Release(o)
	}
}
