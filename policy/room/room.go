// Package room is the bounded waiting room before a limit: calls wait in it
// for a slot, for a time that each of them can afford, and are refused at once
// when there is no place. It serves a gateway's queue and a bulkhead's short
// wait alike.
//
// Every queue that can grow without a bound becomes the outage: its oldest
// entries expire before they are served, and the work done for them is lost.
// So the room has a number of places (F11), every waiter has an end (its
// Until), and nothing is granted at or after it (O-02): whoever asks for the
// next waiter is given those whose time is up as well, with the reason, so
// that they are answered and never run.
//
// The room owns no timer. A waiter whose Until passes is told to Leave by its
// owner, or is expelled by the next call of Next, whichever comes first; both
// take the same constant time, since waiters are linked through an array
// indexed by their id.
package room

import (
	"time"

	"github.com/kalan-go/kalan/policy"
)

// A Room holds the calls that wait for a slot. It does no locking; all verbs
// are told the time.
type Room struct {
	config  Config
	waiters []waiter
	queue   list
	len     int
	last    policy.Instant
}

// An Item describes a call that wants to wait.
type Item struct {
	// Until is when the call stops waiting, at the latest; policy.Never for no
	// such limit. At that instant nothing is granted any more.
	Until policy.Instant
	// Deadline is when the caller has no use for an answer any more;
	// policy.Never for none.
	Deadline policy.Instant
	// Level is the call's importance: 0 is critical and served first.
	Level uint8
	// Flow names whose call it is, hashed; calls of one flow share its turn.
	Flow uint32
	// Weight is how many turns its flow has to one of a flow of weight 1.
	// 0 counts as 1.
	Weight uint8
	// Need is how long the work is expected to take, with its usual deviation;
	// 0 where that is unknown.
	Need time.Duration
}

// end returns when the item stops waiting and why.
func (i *Item) end() (policy.Instant, policy.Reason) {
	if i.Deadline <= i.Until {
		return i.Deadline, policy.Expired
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

// New returns an empty room; config's zero fields are the documented defaults.
func New(config Config) *Room {
	return &Room{config: config.WithDefaults(), queue: empty}
}

// Len returns how many calls wait.
func (r *Room) Len() int { return r.len }

// Offer asks for a place for the call id, which does not wait yet.
func (r *Room) Offer(now policy.Instant, id int32, item Item) Verdict {
	now = r.see(now)
	r.grow(id)
	if end, why := item.end(); now >= end {
		return refuse(why)
	}
	if r.waiters[id].waits {
		return refuse(policy.Full)
	}
	v := Verdict{Out: -1}
	if r.len >= r.config.Waiting {
		if v.Out, v.OutWhy = r.expired(now); v.Out < 0 {
			return refuse(policy.Full)
		}
	}
	r.waiters[id] = waiter{item: item, since: now, waits: true}
	r.queue.push(r.waiters, id)
	r.len++
	return v
}

// Next takes out whoever is next. With the reason policy.None the call id is
// to be given a slot; with another it is to be refused for that reason, and
// Next asked again. ok is false when nobody waits.
func (r *Room) Next(now policy.Instant) (id int32, why policy.Reason, ok bool) {
	now = r.see(now)
	if id = r.queue.head; id < 0 {
		return -1, policy.None, false
	}
	end, why := r.waiters[id].item.end()
	if now < end {
		why = policy.None
	}
	r.remove(id)
	return id, why, true
}

// Leave takes out the call id, which waits no more. It changes nothing when
// the call is not in the room.
func (r *Room) Leave(now policy.Instant, id int32) {
	r.see(now)
	if id >= 0 && int(id) < len(r.waiters) && r.waiters[id].waits {
		r.remove(id)
	}
}

// Oldest returns how long the oldest waiter has waited, 0 when nobody waits.
func (r *Room) Oldest(now policy.Instant) time.Duration {
	if r.queue.head < 0 {
		return 0
	}
	return max(now, r.last).Sub(r.waiters[r.queue.head].since)
}

// expired takes out the oldest waiter if its time is up.
func (r *Room) expired(now policy.Instant) (id int32, why policy.Reason) {
	if id = r.queue.head; id < 0 {
		return -1, policy.None
	}
	end, why := r.waiters[id].item.end()
	if now < end {
		return -1, policy.None
	}
	r.remove(id)
	return id, why
}

func (r *Room) remove(id int32) {
	r.queue.unlink(r.waiters, id)
	r.waiters[id] = waiter{}
	r.len--
}

// grow makes a place in the table for id. Ids are small and dense, so the
// table is as long as the most calls that ever were under way.
func (r *Room) grow(id int32) {
	for int(id) >= len(r.waiters) {
		r.waiters = append(r.waiters, waiter{})
	}
}

// see returns now, or the last instant seen if now lies before it.
func (r *Room) see(now policy.Instant) policy.Instant {
	r.last = max(r.last, now)
	return r.last
}

func refuse(why policy.Reason) Verdict { return Verdict{Reason: why, Out: -1} }
