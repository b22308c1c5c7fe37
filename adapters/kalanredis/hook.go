package kalanredis

import (
	"context"
	"net"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/internal/carry"
	"github.com/kalan-go/kalan/policy"
)

// A Hook protects the commands of one client. Fill in Guard and give it to
// AddHook; the zero value of every other field means its documented default.
type Hook struct {
	// Guard stands before the server. It is required.
	Guard *kalan.Guard
	// Repeatable says which commands may be done twice. nil means [ReadOnly].
	Repeatable func(redis.Cmder) bool
	// Ask says what commands bring: their priority and their tenant. Unsafe and
	// Hedge are filled in here. nil means what a handler of Kalan's was asked
	// (kalanhttp, kalangrpc) and has handed on with its context; without one
	// they are critical, and no tenant's.
	Ask func(ctx context.Context, cmds []redis.Cmder) kalan.Ask
	// Dial is the longest wait for a connection to be made. 0 means 100 ms.
	Dial time.Duration
}

// DialHook limits how long a connection is waited for.
func (h Hook) DialHook(next redis.DialHook) redis.DialHook {
	limit := Limits{Dial: h.Dial}.WithDefaults().Dial
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		return next(ctx, network, addr)
	}
}

// ProcessHook runs a command behind the guard.
func (h Hook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		cmds := []redis.Cmder{cmd}
		if inside(ctx) || every(cmds, isSetup) {
			return next(ctx, cmd)
		}
		return h.guarded(ctx, cmds, Classify, func(ctx context.Context) error { return next(ctx, cmd) })
	}
}

// ProcessPipelineHook runs a pipeline or a transaction behind the guard.
func (h Hook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if inside(ctx) || every(cmds, isSetup) {
			return next(ctx, cmds)
		}
		judge := func(err error) policy.Report { return judgeAll(cmds, err) }
		return h.guarded(ctx, cmds, judge, func(ctx context.Context) error { return next(ctx, cmds) })
	}
}

// guarded runs what sends the commands, once or as often as the guard says.
func (h *Hook) guarded(ctx context.Context, cmds []redis.Cmder, judge func(error) policy.Report, send func(context.Context) error) error {
	ask := h.ask(ctx, cmds)
	if some(cmds, Blocking) {
		return h.admitted(ctx, cmds, ask, send)
	}
	way := kalan.Way[struct{}]{Ask: ask, Judge: func(_ struct{}, err error) policy.Report {
		r := judge(err)
		r.Final = r.Final || ask.Unsafe
		return r
	}}
	ran := false
	_, held, err := kalan.Hold(ctx, h.Guard, way, func(ctx context.Context) (struct{}, error) {
		ran = true
		return struct{}{}, send(within(ctx))
	})
	held.Release(policy.Success)
	return h.answer(cmds, ran, err)
}

// admitted runs commands that wait on purpose: they need a slot to begin. What
// begins says nothing yet.
func (h *Hook) admitted(ctx context.Context, cmds []redis.Cmder, ask kalan.Ask, send func(context.Context) error) error {
	way := kalan.Way[struct{}]{Ask: ask, Judge: func(struct{}, error) policy.Report { return policy.Report{} }}
	_, held, err := kalan.Hold(ctx, h.Guard, way, func(context.Context) (struct{}, error) { return struct{}{}, nil })
	if err != nil {
		return h.answer(cmds, false, err)
	}
	held.Release(policy.Cut)
	return h.answer(cmds, true, send(within(ctx)))
}

func (h *Hook) ask(ctx context.Context, cmds []redis.Cmder) kalan.Ask {
	asked := carry.Of[kalan.Ask](ctx)
	ask := asked.Ask
	if h.Ask != nil {
		ask = h.Ask(ctx, cmds)
	}
	ask.Once = ask.Once || asked.Owner != "" // who repeats the request, repeats this with it
	repeatable := h.Repeatable
	if repeatable == nil {
		repeatable = ReadOnly
	}
	ask.Unsafe, ask.Hedge = !every(cmds, repeatable), false
	return ask
}

// answer gives commands that were not carried out their error, and says of a
// pool without connections that it is our refusal, not the server's. Of those
// that were sent go-redis has said what became of each.
func (h *Hook) answer(cmds []redis.Cmder, ran bool, err error) error {
	if starved(err) {
		err, ran = &kalan.Rejection{Guard: h.Guard.Name(), Reason: policy.Waited, Cause: err}, false
	}
	if err != nil && !ran {
		for _, cmd := range cmds {
			cmd.SetErr(err)
		}
	}
	return err
}

func isSetup(cmd redis.Cmder) bool { return setup[cmd.Name()] }

// insideKey marks what go-redis does within a guarded command: making a
// connection ready runs through the hooks too, and must not wait for a second
// slot.
type insideKey struct{}

func within(ctx context.Context) context.Context { return context.WithValue(ctx, insideKey{}, true) }

func inside(ctx context.Context) bool { return ctx.Value(insideKey{}) != nil }
