// Package reconnect keeps a client connected without storming the server that
// it has lost.
//
// When a server restarts, all its clients lose their connections in the same
// moment. Those that try again at once, or after a fixed second, arrive
// together, are refused together, and arrive together again: 5,000 terminals
// are then a load that no server comes back under. Only the clients can spread
// themselves (F5). Run does:
//
//   - the wait grows from failure to failure and is drawn at random, by the
//     backoff of package policy/retry;
//   - a Retry-After is obeyed: never shortened, and spread a little on top,
//     because the server may have told everybody the same;
//   - the first connection is staged (package jitter), since clients are
//     started together as well;
//   - a connection that ends well is no reason to come back at once either: a
//     server that leaves in order closes all of them together;
//   - the wait begins small again only after a connection that was ready for a
//     while. A server that accepts and drops is failing.
//
// Use it for connections that are kept: streams, sockets, subscriptions. For
// calls that are answered once there is kalan.Guard, whose retries have a
// deadline and a budget.
//
// The [Plan] decides and is told what happened; Run is its driver, and runs
// everything on the goroutine of its caller.
package reconnect

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"time"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/internal/field"
	"github.com/kalan-go/kalan/jitter"
	"github.com/kalan-go/kalan/policy"
)

// Run connects, again and again, until ctx ends, and returns why it ended.
//
// connect makes one connection, calls ready when everything that comes before
// its use is done, uses it, and returns when it has ended; why does not matter,
// but for three errors: one marked by [Stop] ends Run, a [*kalan.Rejection] may
// say after how long to come back, and so does its RetryAfter when that is
// longer than Config.Longest, which ends Run too. The context of connect ends
// with ctx, and with the cause policy.Timeout when ready was not called in time.
func Run(ctx context.Context, config Config, connect func(ctx context.Context, ready func()) error) error {
	if err := field.Error("reconnect", config.Name, config.Validate()); err != nil {
		return err
	}
	config = config.WithDefaults()
	plan := NewPlan(config, rand.Uint64())
	for wait := plan.First(); ; {
		if err := jitter.Sleep(ctx, wait); err != nil {
			return err
		}
		up, err := once(ctx, &config, connect)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if wait, err = next(&plan, up, err); err != nil {
			return err
		}
	}
}

// next returns the wait after a connection that has ended with err, or the
// error that ends the loop.
func next(plan *Plan, up time.Duration, err error) (time.Duration, error) {
	var stop *stopped
	if errors.As(err, &stop) {
		return 0, stop.error
	}
	var asked *kalan.Rejection
	var retryAfter time.Duration
	if errors.As(err, &asked) {
		retryAfter = asked.RetryAfter
	}
	wait, ok := plan.Again(up, retryAfter)
	if !ok {
		return 0, fmt.Errorf("%s: asked to stay away for %v, and the longest that is waited for is %v: %w",
			strings.TrimSpace("reconnect "+plan.config.Name), retryAfter, plan.config.Longest, err)
	}
	if plan.config.Lost != nil {
		plan.config.Lost(err, wait)
	}
	return wait, nil
}

// once makes one connection, and returns how long it was ready.
func once(ctx context.Context, config *Config, connect func(context.Context, func()) error) (up time.Duration, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	begun := time.Now()
	timer := time.AfterFunc(config.Connect, func() { cancel(policy.Timeout) })
	defer timer.Stop()
	var since atomic.Int64 // when it was ready; 0: not yet, or too late
	err = connect(ctx, func() {
		if timer.Stop() {
			since.Store(max(int64(time.Since(begun)), 1))
		}
	})
	if at := since.Load(); at > 0 {
		return time.Since(begun) - time.Duration(at), err
	}
	if context.Cause(ctx) == policy.Timeout {
		err = &kalan.Rejection{Guard: config.Name, Reason: policy.Timeout, Cause: err}
	}
	return 0, err
}

// Stop marks an error that trying again cannot mend, such as a wrong password:
// Run ends and returns it.
func Stop(err error) error {
	if err == nil {
		err = errors.New("reconnect: stopped")
	}
	return &stopped{err}
}

type stopped struct{ error }

func (s *stopped) Unwrap() error { return s.error }
