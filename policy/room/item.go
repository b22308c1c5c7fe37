package room

import (
	"time"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/span"
)

// Levels is the number of levels of importance. Larger levels count as the
// last one.
const Levels = 8

// An Item describes a call that wants to wait.
type Item struct {
	// Until is when the call stops waiting, at the latest; policy.Never for no
	// such limit. At that instant nothing is granted any more.
	Until policy.Instant
	// Deadline is when the caller has no use for an answer any more;
	// policy.Never for none.
	Deadline policy.Instant
	// Level is the call's importance: 0 is critical, served first and never
	// shed.
	Level uint8
	// Flow names whose call it is, hashed; calls of one flow share its turn.
	Flow uint32
	// Weight is how many grants its flow has in a turn. 0 counts as 1. The
	// first waiter of a flow sets it, until none of the flow waits.
	Weight uint8
	// Need is how long the work is expected to take, with its usual deviation;
	// 0 where that is unknown.
	Need time.Duration
}

// normal returns i with what is out of range brought into it.
func (i Item) normal() Item {
	i.Level = min(i.Level, Levels-1)
	i.Weight = max(i.Weight, 1)
	i.Need = max(i.Need, 0)
	return i
}

// hopeless returns when the caller's remaining time is too short for the work.
func (i *Item) hopeless() policy.Instant {
	if i.Deadline == policy.Never {
		return policy.Never
	}
	return policy.Instant(span.Sub(time.Duration(i.Deadline), i.Need))
}

// could returns how long the item could wait, if it came at since.
func (i *Item) could(since policy.Instant) time.Duration {
	return min(i.Until, i.hopeless()).Sub(since)
}

// end returns when the item stops waiting and why.
func (r *Room) end(i *Item) (policy.Instant, policy.Reason) {
	end := i.hopeless()
	if r.config.Observe {
		end = i.Deadline
	}
	if end <= i.Until {
		return end, policy.Expired
	}
	return i.Until, policy.Waited
}

// A Verdict is the answer to an offer.
type Verdict struct {
	// Reason is policy.None when the call waits now, and otherwise why not.
	Reason policy.Reason
	// Out is the id of a waiter that lost its place to the offered call, -1
	// when there is none. It waits no more and is to be answered.
	Out int32
	// OutWhy is why it lost its place.
	OutWhy policy.Reason
}

func refuse(why policy.Reason) Verdict { return Verdict{Reason: why, Out: none} }
