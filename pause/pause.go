// Package pause sees the pauses of the process itself, and helps to do nothing
// in vain afterwards.
//
// A process that stands still (garbage collection, no processor to run on, a
// frozen container, a stopped virtual machine) sends nothing and refuses
// nothing. When it goes on, everything that waited is still there, and much of
// it is for callers who have left meanwhile. After a pause of 1.8 s a service
// with deadlines of 1 s has nothing but dead work in its queues; whoever does
// that first is late for the living as well (F23).
//
// Three things help:
//
//   - [Over] says whether work is still wanted, by the clock and not by the
//     context alone: after a pause the timers of contexts fire when the
//     scheduler comes to them, which may be after the work has begun.
//   - [Watch] measures: pauses and scheduling delays as the Go runtime counts
//     them, and by a heartbeat those that the runtime cannot see.
//   - [LimitMemory] tells the garbage collector how much memory there is, so
//     that it works before the kernel kills.
//
// Policies need none of this: they are told the time, and what has expired is
// expelled when they look. It is for queues and workers of one's own.
//
// Limits: the heartbeat sees pauses longer than Config.Threshold, and measures
// them too short by up to Config.Every. The runtime's figures are ends of
// buckets, up to a tenth too long.
package pause

import (
	"context"
	"errors"
	"time"

	"github.com/kalan-go/kalan/policy"
)

// Over reports why the work of ctx is not wanted any more: policy.Gone when ctx
// was cancelled, policy.Expired when its deadline has passed, whether or not
// ctx has noticed. policy.None means that it is still wanted. Ask it before
// beginning work that has waited.
func Over(ctx context.Context) policy.Reason {
	switch err := ctx.Err(); {
	case errors.Is(err, context.DeadlineExceeded):
		return policy.Expired
	case err != nil:
		return policy.Gone
	}
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) <= 0 {
		return policy.Expired
	}
	return policy.None
}
