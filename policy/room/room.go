package room

import (
	"time"

	"github.com/kalan-go/kalan/policy"
)

// A Room holds the calls that wait for a slot. Make one with New. It does no
// locking; all verbs are told the time.
type Room struct {
	config  Config
	waiters []waiter
	age     list // everybody, oldest at the head
	len     int
	levels  [Levels]level
	flows   table
	watch   watch
	drain   drain
	counts  Counts
	last    policy.Instant
}

// New returns an empty room; config's zero fields are the documented defaults.
func New(config Config) *Room {
	r := &Room{config: config.WithDefaults(), age: empty}
	for i := range r.levels {
		r.levels[i].turn = none
	}
	return r
}

// Len returns how many calls wait.
func (r *Room) Len() int { return r.len }

// Offer asks for a place for the call id, which does not wait yet. What cannot
// be finished in time is refused at once, and so is everything but critical
// work while the room sheds; when no place is left, somebody less entitled may
// lose its own.
func (r *Room) Offer(now policy.Instant, id int32, item Item) Verdict {
	now = r.see(now)
	item = item.normal()
	v := r.judge(now, id, &item)
	if v.Reason != policy.None {
		r.counts.refuse(v.Reason)
		return v
	}
	r.enter(now, id, item)
	return v
}

// judge decides on an offer, and makes room for it when it may wait.
func (r *Room) judge(now policy.Instant, id int32, item *Item) Verdict {
	if id < 0 || r.waits(id) {
		return refuse(policy.Full)
	}
	if end, why := r.end(item); now >= end {
		return refuse(why)
	}
	if now >= item.hopeless() {
		r.counts.WouldExpire++
	}
	if r.sheds(now, item) {
		if !r.config.Observe {
			return refuse(policy.Shed)
		}
		r.counts.WouldShed++
	}
	if r.len < r.config.Waiting {
		return Verdict{Out: none}
	}
	return r.displace(now, item)
}

// Next takes out whoever is next. With the reason policy.None the call id is
// to be given a slot; with another it is to be refused for that reason, and
// Next asked again. ok is false when nobody waits.
func (r *Room) Next(now policy.Instant) (id int32, why policy.Reason, ok bool) {
	now = r.see(now)
	if r.len == 0 {
		return none, policy.None, false
	}
	if id, why = r.ended(now, r.age.head); id < 0 {
		l := r.choose()
		f := r.levels[l].turn
		if id, why = r.ended(now, r.flows.all[f].next(r.newestFirst())); id < 0 {
			id = r.flows.all[f].next(r.newestFirst())
			r.charge(l, f)
			r.drain.grants++
			r.counts.Granted++
		}
	}
	if why != policy.None {
		r.counts.refuse(why)
		r.watch.lose(now)
	}
	r.remove(now, id)
	return id, why, true
}

// ended returns id and why it is to be refused if its time is up, and none
// otherwise.
func (r *Room) ended(now policy.Instant, id int32) (int32, policy.Reason) {
	if end, why := r.end(&r.waiters[id].item); now >= end {
		return id, why
	}
	return none, policy.None
}

// Leave takes out the call id, which waits no more. It changes nothing when
// the call is not in the room.
func (r *Room) Leave(now policy.Instant, id int32) {
	now = r.see(now)
	if r.waits(id) {
		r.counts.Left++
		if _, why := r.ended(now, id); why != policy.None {
			r.watch.lose(now)
		}
		r.remove(now, id)
	}
}

// Evict takes out anybody, and reports whether there was one: for a room
// behind a breaker that has tripped. Nobody is granted anything.
func (r *Room) Evict(now policy.Instant) (id int32, ok bool) {
	now = r.see(now)
	if id = r.age.head; id < 0 {
		return none, false
	}
	r.counts.Left++
	r.remove(now, id)
	return id, true
}

// End returns when the waiting call id will be refused if nothing is granted
// before, and why: the instant to look again.
func (r *Room) End(id int32) (policy.Instant, policy.Reason) {
	if !r.waits(id) {
		return policy.Never, policy.None
	}
	return r.end(&r.waiters[id].item)
}

// Oldest returns how long the oldest waiter has waited, 0 when nobody waits.
func (r *Room) Oldest(now policy.Instant) time.Duration {
	if r.age.head < 0 {
		return 0
	}
	return max(now, r.last).Sub(r.waiters[r.age.head].since)
}

// Configure changes the configuration. Whoever waits goes on waiting, also
// when there are more of them than places now.
func (r *Room) Configure(now policy.Instant, config Config) {
	now = r.see(now)
	r.config = config.WithDefaults()
	r.look(now)
}

func (r *Room) enter(now policy.Instant, id int32, item Item) {
	for int(id) >= len(r.waiters) { // ids are small and dense
		r.waiters = append(r.waiters, waiter{})
	}
	f := r.join(&item)
	r.waiters[id] = waiter{item: item, since: now, flow: f, waits: true}
	r.age.push(r.waiters, id, byAge)
	r.flows.all[f].waiters.push(r.waiters, id, inFlow)
	r.len++
	r.resize(f, 1)
	r.look(now)
}

func (r *Room) remove(now policy.Instant, id int32) {
	f := r.waiters[id].flow
	r.age.unlink(r.waiters, id, byAge)
	r.flows.all[f].waiters.unlink(r.waiters, id, inFlow)
	r.waiters[id] = waiter{}
	r.len--
	r.resize(f, -1)
	r.look(now)
}

func (r *Room) waits(id int32) bool {
	return id >= 0 && int(id) < len(r.waiters) && r.waiters[id].waits
}

// see lets time pass up to now, and returns it, or the last instant seen if
// now lies before it.
func (r *Room) see(now policy.Instant) policy.Instant {
	r.last = max(r.last, now)
	r.look(r.last)
	r.drain.pass(r.last, r.len > 0)
	return r.last
}
