package kalangrpc

import (
	"cmp"
	"context"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/internal/carry"
	"github.com/kalan-go/kalan/policy"
)

// A Client protects the calls of one connection. Fill in Guard and take its
// Options; the zero value of every other field means its documented default.
type Client struct {
	// Guard stands before the service that is called. It is required.
	Guard *kalan.Guard
	// Repeatable says which methods may be done twice, by their full name
	// ("/prices.Prices/Get"). nil means none: then only calls of which nothing
	// was sent are repeated.
	Repeatable func(method string) bool
	// Long says which streams live long: they give their slot back with their
	// first message. nil means none.
	Long func(method string) bool
	// Judge says what a status tells of the service. nil means [Judge].
	Judge func(codes.Code) policy.Outcome
	// Ask says what a call brings: its priority and its tenant. Unsafe and
	// Hedge are filled in here. nil means [AskOf] its context.
	Ask func(ctx context.Context, method string) kalan.Ask
	// Owner is the name that marks calls which may be retried, so that those
	// below pass errors up. "" means "kalan", as in kalanhttp, and so does one
	// that is not ASCII.
	Owner string
	// Margin is what the caller's deadline keeps back for the way back. 0
	// means 5 ms; negative means none. Raising it leaves servers less time and
	// callers fewer answers that come too late.
	Margin time.Duration `zero:"none"`

	retries bool // the guard makes more than one attempt
}

// Options returns what grpc.NewClient needs: both interceptors, and grpc-go's
// own retries switched off. Without a Guard it panics.
func (c Client) Options() []grpc.DialOption {
	return []grpc.DialOption{
		grpc.WithChainUnaryInterceptor(c.Unary()),
		grpc.WithChainStreamInterceptor(c.Stream()),
		grpc.WithDisableRetry(),
	}
}

func (c Client) withDefaults() Client {
	if c.Guard == nil {
		panic("kalangrpc: a Client needs a Guard; make one with kalan.New")
	}
	if c.Judge == nil {
		c.Judge = Judge
	}
	c.Owner = cmp.Or(c.Owner, anyOwner)
	c.Margin = marginOf(c.Margin)
	c.retries = c.Guard.Config().Retry.Attempts > 1
	return c
}

// A call is one call of the client's, over all its attempts.
type call struct {
	*Client
	method     string
	ask        kalan.Ask
	repeatable bool
	owner      string // as it is written; "" for none
	last       attempt
}

func (c *Client) begin(ctx context.Context, method string) call {
	asked := carry.Of[kalan.Ask](ctx)
	k := call{Client: c, method: method, ask: asked.Ask, owner: asked.Owner}
	if c.Ask != nil {
		k.ask = c.Ask(ctx, method)
	}
	k.repeatable = c.Repeatable != nil && c.Repeatable(method)
	k.ask.Unsafe, k.ask.Hedge = !k.repeatable, false
	switch {
	case k.owner != "":
		k.ask.Once = true
	case k.repeatable && !k.ask.Once && c.retries:
		k.owner = c.Owner
	}
	return k
}

// Unary returns the interceptor of calls with one reply.
func (c Client) Unary() grpc.UnaryClientInterceptor {
	c = c.withDefaults()
	return func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
		k := c.begin(ctx, method)
		way := kalan.Way[struct{}]{Judge: k.judge, Ask: k.ask}
		_, held, err := kalan.Hold(keepBack(ctx, c.Margin), c.Guard, way, func(ctx context.Context) (struct{}, error) {
			return struct{}{}, k.invoke(ctx, req, reply, cc, invoke, opts)
		})
		if err != nil {
			return answer(err)
		}
		held.Release(policy.Success)
		return nil
	}
}

// invoke makes one attempt.
func (k *call) invoke(ctx context.Context, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts []grpc.CallOption) error {
	k.last = attempt{}
	var reached peer.Peer
	ctx = marked(ctx, kalan.AttemptOf(ctx).Number, k.owner)
	err := invoke(ctx, k.method, req, reply, cc, append(opts[:len(opts):len(opts)],
		grpc.Trailer(&k.last.trailer), grpc.Peer(&reached))...)
	// grpc-go fills in the peer once it has a stream; without one it has sent
	// nothing.
	k.last.sent = reached.Addr != nil
	return err
}

func (k *call) judge(_ struct{}, err error) policy.Report {
	return k.last.report(err, k.Client.Judge(status.Code(err)), k.repeatable)
}
