// Package jitter keeps things from happening at the same moment: scheduled
// work, the end of cached values and pooled connections, and the start of many
// processes after one rollout.
//
// Machines that do the same thing at the same time are a load test that
// somebody forgot to announce. A hundred gateways with a job at 09:00:00 open
// a hundred connections in the same millisecond; values that were cached
// together end together; processes that were started together stay together.
// The cure costs nothing where no exact moment was needed: add a random delay.
//
//   - [Schedule]: a repeated piece of work, each run shifted by 0-30 s.
//   - [Lifetime]: how long something is kept, 300 s +-20 %.
//   - [Start]: a staged start, min(ordinal x 500 ms, 15 s) + 0-500 ms, the
//     ordinal read from the name that a StatefulSet gives to its pods.
//   - [Delay] and [Around] are the arithmetic beneath, for everything else.
//
// Each decision is a plain function of a fraction u in [0, 1) that the caller
// draws, so that it can be simulated and tested; the halves that wait
// ([Schedule.Run], [Start.Sleep], [Sleep]) draw it themselves. Where a single
// moment is the point of the work (closing a market, a certificate's end),
// spread the preparation and not the moment.
//
// Not in here: the jitter of retries and reconnects, which depends on how many
// attempts have failed (packages policy/retry and reconnect).
package jitter

import (
	"context"
	"time"

	"github.com/kalan-go/kalan/policy/span"
)

// Delay returns the share u of longest; u is in [0, 1). The answer is between
// 0 and longest whatever u is, and 0 when longest is not positive.
func Delay(longest time.Duration, u float64) time.Duration {
	longest = max(longest, 0)
	return span.Clamp(span.Scale(longest, u), 0, longest)
}

// Around returns a duration between d-share and d+share: share is a fraction
// of d between 0 and 1, and u, in [0, 1), says where between the two. Around
// saturates, and returns 0 when d is not positive.
func Around(d time.Duration, share, u float64) time.Duration {
	width := Delay(d, share)
	return span.Add(span.Sub(max(d, 0), width), Delay(span.Mul(width, 2), u))
}

// Sleep waits for d, and returns nil when it has passed. When ctx ends first it
// returns the reason at once: context.Cause. A d that is not positive waits for
// nothing, and still reports a context that has ended.
func Sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 || ctx.Err() != nil {
		return context.Cause(ctx)
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
