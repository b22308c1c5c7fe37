package world

import (
	"math"
	"slices"
	"time"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/bucket"
	"github.com/kalan-go/kalan/policy/span"
	"github.com/kalan-go/kalan/sim/random"
)

// A service is what all instances have in common while it runs.
type service struct {
	first  int32   // its first instance
	listed []int32 // the instances that requests are sent to
	// what optimistic work has written, by key
	versions []uint32
}

// An instance is one process of a service.
type instance struct {
	service int32
	busy    int // with a worker
	waiting int // in the queue
	head    int32
	tail    int32
	delay   codel
	shared  *crowd // processor sharing
	accept  *bucket.Bucket
	speeds  []Speed
	frozen  policy.Instant // until then it stands still
	closed  bool
	present int // in service and in the queue
	changed policy.Instant
}

func (w *World) addServices(s random.Stream) {
	for i := range w.m.Services {
		sv := &w.m.Services[i]
		one := service{first: int32(len(w.instances))}
		for n := range sv.Instances {
			one.listed = append(one.listed, int32(len(w.instances)))
			w.instances = append(w.instances, w.newInstance(int32(i), n))
		}
		w.services = append(w.services, one)
	}
}

func (w *World) newInstance(of int32, n int) instance {
	sv := &w.m.Services[of]
	in := instance{service: of, head: none, tail: none, speeds: speedsOf(sv.Speeds, n)}
	if sv.Shared {
		in.shared = &crowd{}
	}
	if sv.Accept != nil {
		in.accept = bucket.New(*sv.Accept)
	}
	return in
}

// speedsOf returns the speeds of the n-th instance one after the other. Where
// several hold at a time they multiply.
func speedsOf(all []Speed, n int) []Speed {
	mine := slices.DeleteFunc(slices.Clone(all), func(s Speed) bool { return s.Instance >= 0 && s.Instance != n })
	var at []policy.Instant
	for _, s := range mine {
		at = append(at, s.From, s.To)
	}
	slices.Sort(at)
	at = slices.Compact(at)
	var apart []Speed
	for i := range max(len(at)-1, 0) {
		one := Speed{From: at[i], To: at[i+1], Rate: 1}
		for _, s := range mine {
			if s.From <= one.From && one.To <= s.To {
				one.Rate *= s.Rate
			}
		}
		if one.Rate != 1 {
			apart = append(apart, one)
		}
	}
	return apart
}

// pick chooses the instance that a request goes to, among those that are
// listed.
func (w *World) pick(service int32, id random.Stream) int32 {
	listed := w.services[service].listed
	switch len(listed) {
	case 0:
		return none
	case 1:
		return listed[0]
	}
	s := id.Sub(forInstance)
	return listed[s.IntN(len(listed))]
}

// change counts who has come, or gone.
func (in *instance) change(now policy.Instant, by int, t *ServiceTally) {
	in.count(now, t)
	in.present += by
}

// take counts a worker that is taken, or given back.
func (in *instance) take(now policy.Instant, by int, t *ServiceTally) {
	in.count(now, t)
	in.busy += by
}

// count adds up how long it has been as it is. The tally begins at the gate.
func (in *instance) count(now policy.Instant, t *ServiceTally) {
	long := float64(max(now-max(in.changed, t.from), 0))
	t.Present += float64(in.present) * long
	t.Busy += float64(in.busy) * long
	in.changed = now
}

// after returns when work that needs d is done if it is begun now.
func (in *instance) after(now policy.Instant, d time.Duration) policy.Instant {
	if len(in.speeds) == 0 {
		return now.Add(d)
	}
	left := float64(d)
	for _, s := range in.speeds {
		if s.To <= now {
			continue
		}
		if now < s.From {
			if gap := float64(s.From - now); left <= gap {
				break
			} else {
				left -= gap
			}
			now = s.From
		}
		if done := float64(s.To-now) * s.Rate; done >= left && s.Rate > 0 {
			return now.Add(time.Duration(math.Round(left / s.Rate)))
		} else {
			left -= done
		}
		now = s.To
	}
	return now.Add(time.Duration(math.Round(left)))
}

// hopeless reports whether a visit need not be begun any more.
func (q *Queue) hopeless(now policy.Instant, v *visit) bool {
	return (q.Expired || q.Needs > 0) && v.deadline.Sub(now) <= q.Needs
}

// enqueue lets a visit wait for a worker.
func (w *World) enqueue(in *instance, id int32) {
	v := &w.visits[id]
	v.state = queued
	v.prev, v.next = in.tail, none
	if in.tail == none {
		in.head = id
	} else {
		w.visits[in.tail].next = id
	}
	in.tail = id
	in.waiting++
	t := &w.tally.Services[in.service]
	t.Longest = max(t.Longest, in.waiting)
}

// dequeue takes a visit out of the queue, wherever it stands.
func (w *World) dequeue(in *instance, id int32) {
	v := &w.visits[id]
	if v.prev == none {
		in.head = v.next
	} else {
		w.visits[v.prev].next = v.next
	}
	if v.next == none {
		in.tail = v.prev
	} else {
		w.visits[v.next].prev = v.prev
	}
	v.prev, v.next = none, none
	in.waiting--
}

// serveNext gives free workers of an instance to those who wait.
func (w *World) serveNext(i int32) {
	for {
		in := &w.instances[i]
		sv := &w.m.Services[in.service]
		if in.waiting == 0 || in.busy >= sv.Workers {
			return
		}
		id := in.head
		if sv.Queue.Newest {
			id = in.tail
		}
		v := &w.visits[id]
		w.dequeue(in, id)
		switch late := sv.Queue.hopeless(w.now, v); {
		case late, sv.Queue.Target > 0 && in.delay.drops(w.now, w.now.Sub(v.born), in.waiting, &sv.Queue):
			w.turnAway(in, id, late)
		default:
			w.begin(id)
		}
	}
}

// turnAway drops a visit from the queue.
func (w *World) turnAway(in *instance, id int32, late bool) {
	t := &w.tally.Services[in.service]
	t.Dropped++
	in.change(w.now, -1, t)
	why := policy.Shed
	if late {
		why = policy.Expired
	}
	w.reply(id, answer{result: Refused, why: why})
}

// A codel drops from a queue that has been slow for too long (Nichols and
// Jacobson, "Controlling queue delay", ACM Queue 2012). It takes up dropping
// where it was, as there; RFC 8289 begins with less, and lets a server whose
// callers do not slow down, as TCP does, swing between too much and nothing.
type codel struct {
	above    policy.Instant // when slow is too long; 0: it is not slow
	next     policy.Instant // when to drop again
	count    int
	dropping bool
}

// drops reports whether the visit that has waited for so long, with so many
// behind it, is to be dropped.
func (c *codel) drops(now policy.Instant, waited time.Duration, behind int, q *Queue) bool {
	switch {
	case waited < q.Target || behind == 0:
		c.above, c.dropping = 0, false
		return false
	case c.above == 0:
		c.above = now.Add(q.Interval)
		return false
	case now < c.above:
		c.dropping = false
		return false
	case c.dropping && now < c.next:
		return false
	case c.dropping:
		c.count++
		c.next = c.next.Add(q.spacing(c.count))
		return true
	}
	c.dropping = true
	if now.Sub(c.next) >= span.Mul(q.Interval, 16) {
		c.count = 0
	}
	c.count = max(c.count-2, 1)
	c.next = now.Add(q.spacing(c.count))
	return true
}

func (q *Queue) spacing(count int) time.Duration {
	return time.Duration(float64(q.Interval) / math.Sqrt(float64(count)))
}
