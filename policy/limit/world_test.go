package limit_test

import (
	"math/rand/v2"
	"time"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/limit"
	"github.com/kalan-go/kalan/policy/room"
)

const ms = time.Millisecond

// A world is a gate - a limit and a room, put together as the composition does
// it - before an upstream that works off an unbounded queue and ignores who has
// left, under an open load, in virtual time.
type world struct {
	limit    *limit.Limit
	room     *room.Room
	upstream upstream
	classes  []class
	rate     float64 // calls a second
	even     bool    // calls come at equal distances, not at random
	hangs    float64 // the part of the calls that are never answered, and given up
	random   *rand.Rand
	calls    []call
	events   events
	arrivals bool
	now      policy.Instant
	tally    tally
	each     func(*world) // after every event
}

// A class is a kind of calls: a share of the load, and what is asked for it.
type class struct {
	share    float64
	deadline time.Duration
	level    uint8
	flow     uint32
	work     float64 // in services of the upstream
}

// A tally is what became of the calls.
type tally struct {
	offered, good, late, refused int
	class                        []struct{ offered, good int }
}

type call struct {
	class    int
	deadline policy.Instant
	started  policy.Instant
	token    limit.Token
}

// newWorld returns a world in which nothing comes yet.
func newWorld(seed uint64, config limit.Config, classes ...class) *world {
	w := &world{
		limit: limit.New(config), room: room.New(room.Config{}),
		random: rand.New(rand.NewPCG(seed, 1)), classes: classes,
		upstream: upstream{law: always},
	}
	w.reset()
	return w
}

// reset begins a new tally, of the calls that come from now on and of those
// under way.
func (w *world) reset() {
	w.tally = tally{class: make([]struct{ offered, good int }, len(w.classes))}
}

const (
	finish uint8 = iota
	arrive
	alarm
	giveUp
)

// run lets time pass.
func (w *world) run(d time.Duration) {
	end := w.now.Add(d)
	if !w.arrivals && w.rate > 0 {
		w.arrivals = true
		w.events.push(event{w.now, arrive, 0})
	}
	for len(w.events) > 0 && w.events[0].at < end {
		e := w.events.pop()
		w.now = e.at
		switch e.what {
		case arrive:
			w.arrive()
		case finish:
			w.finish(e.id)
		case alarm:
			w.alarm(e.id)
		case giveUp:
			w.giveUp(e.id)
		}
		if w.each != nil {
			w.each(w)
		}
	}
	w.now = end
}

func (w *world) arrive() {
	if w.rate <= 0 {
		w.arrivals = false
		return
	}
	gap := 1 / w.rate
	if !w.even {
		gap *= w.random.ExpFloat64()
	}
	w.events.push(event{w.now.Add(time.Duration(gap * 1e9)), arrive, 0})
	c := w.pick()
	w.calls = append(w.calls, call{class: c, deadline: w.now.Add(w.classes[c].deadline)})
	w.tally.offered++
	w.tally.class[c].offered++
	w.admit(int32(len(w.calls) - 1))
}

func (w *world) pick() int {
	x := w.random.Float64()
	for i, c := range w.classes {
		if x -= c.share; x < 0 {
			return i
		}
	}
	return len(w.classes) - 1
}

// admit does what the composition does with a call that was launched.
func (w *world) admit(id int32) {
	c, class := &w.calls[id], w.classes[w.calls[id].class]
	if w.room.Len() == 0 && w.limit.Free() {
		if c.deadline.Sub(w.now) < w.limit.Predict(w.now, w.limit.InFlight()+1) {
			w.refuse(policy.Expired)
			return
		}
		w.start(id)
		return
	}
	v := w.room.Offer(w.now, id, room.Item{
		Until: policy.Never, Deadline: c.deadline, Level: class.level, Flow: class.flow,
		Need: w.limit.Predict(w.now, w.limit.Max()),
	})
	if v.Out >= 0 {
		w.refuse(v.OutWhy)
	}
	if v.Reason != policy.None {
		w.refuse(v.Reason)
		return
	}
	end, _ := w.room.End(id)
	w.events.push(event{end, alarm, id})
}

func (w *world) alarm(id int32) {
	if end, why := w.room.End(id); why != policy.None && w.now >= end {
		w.room.Leave(w.now, id)
		w.refuse(why)
	}
}

func (w *world) start(id int32) {
	w.calls[id].started = w.now
	w.calls[id].token = w.limit.Take(w.now)
	if w.hangs > 0 && w.random.Float64() < w.hangs {
		w.events.push(event{w.now.Add(800 * ms), giveUp, id})
		return
	}
	w.upstream.queue = append(w.upstream.queue, id)
	w.upstream.work(w)
}

// giveUp gives the slot of a call back that hangs.
func (w *world) giveUp(id int32) {
	c := &w.calls[id]
	w.limit.Give(w.now, &c.token, limit.Sample{Outcome: policy.Failure, Late: true, Remaining: c.deadline.Sub(c.started)})
	w.tally.late++
	w.dispatch()
}

// finish gives the slot back when the upstream is done, whoever has left.
func (w *world) finish(id int32) {
	c := &w.calls[id]
	w.upstream.busy--
	w.upstream.work(w)
	late := w.now > c.deadline
	w.limit.Give(w.now, &c.token, limit.Sample{
		Outcome: policy.Success, Late: late, Remaining: c.deadline.Sub(c.started),
	})
	if late {
		w.tally.late++
	} else {
		w.tally.good++
		w.tally.class[c.class].good++
	}
	w.dispatch()
}

func (w *world) dispatch() {
	for w.limit.Free() {
		id, why, ok := w.room.Next(w.now)
		switch {
		case !ok:
			return
		case why != policy.None:
			w.refuse(why)
		default:
			w.start(id)
		}
	}
}

func (w *world) refuse(why policy.Reason) {
	w.limit.Refused(w.now, why)
	w.tally.refused++
}

// An upstream serves calls in the order in which they came.
type upstream struct {
	workers int
	service time.Duration
	law     func(w *world, mean time.Duration) time.Duration
	queue   []int32
	busy    int
}

func (u *upstream) work(w *world) {
	for u.busy < u.workers && len(u.queue) > 0 {
		id := u.queue[0]
		u.queue = u.queue[1:]
		u.busy++
		took := u.law(w, u.service)
		if work := w.classes[w.calls[id].class].work; work > 0 {
			took = time.Duration(float64(took) * work)
		}
		w.events.push(event{w.now.Add(took), finish, id})
	}
}

// The laws of service times.

func always(_ *world, mean time.Duration) time.Duration { return mean }

func exponential(w *world, mean time.Duration) time.Duration {
	return time.Duration(float64(mean) * w.random.ExpFloat64())
}

// bimodal takes 5 ms nine times of ten, and 200 ms once: 24.5 ms in the mean.
func bimodal(w *world, _ time.Duration) time.Duration {
	if w.random.Float64() < .9 {
		return 5 * ms
	}
	return 200 * ms
}

// crowded takes longer by a quarter for each that is at work.
func crowded(w *world, mean time.Duration) time.Duration {
	return mean + time.Duration(w.upstream.busy)*mean/4
}

// An event is something that happens to a call.
type event struct {
	at   policy.Instant
	what uint8
	id   int32
}

// before puts slots that come free before calls that arrive.
func (e event) before(f event) bool { return e.at < f.at || e.at == f.at && e.what < f.what }

// An events is a binary heap, the earliest first.
type events []event

func (h *events) push(e event) {
	*h = append(*h, e)
	a := *h
	for i := len(a) - 1; i > 0 && a[i].before(a[(i-1)/2]); i = (i - 1) / 2 {
		a[i], a[(i-1)/2] = a[(i-1)/2], a[i]
	}
}

func (h *events) pop() event {
	a := *h
	top := a[0]
	a[0] = a[len(a)-1]
	a = a[:len(a)-1]
	*h = a
	for i := 0; 2*i+1 < len(a); {
		child := 2*i + 1
		if child+1 < len(a) && a[child+1].before(a[child]) {
			child++
		}
		if !a[child].before(a[i]) {
			break
		}
		a[i], a[child] = a[child], a[i]
		i = child
	}
	return top
}
