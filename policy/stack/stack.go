package stack

import (
	"time"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/breaker"
	"github.com/kalan-go/kalan/policy/bucket"
	"github.com/kalan-go/kalan/policy/budget"
	"github.com/kalan-go/kalan/policy/latency"
	"github.com/kalan-go/kalan/policy/limit"
	"github.com/kalan-go/kalan/policy/retry"
	"github.com/kalan-go/kalan/policy/room"
	"github.com/kalan-go/kalan/policy/throttle"
)

// A Stack is the machine before one dependency. It is not safe for concurrent
// use: a driver holds one lock around every verb. Use New.
type Stack struct {
	slab
	cfg     Config
	now     policy.Instant
	slowest policy.Instant // when the oldest watched attempt turns slow
	watch   list           // attempts not yet known to be slow, oldest first
	woken   list           // owners that should look again
	reserve bool           // the reserved probe slot is taken
	seen    breaker.State  // the breaker's state when it was last looked at
	moves   uint32         // how often it has changed
	lenient bool           // it observes, and refuses nobody

	hedge    time.Duration // the measured delay of a hedge
	hedgedAt uint64        // sixteens of answers when it was measured

	counts  Counts
	rate    *bucket.Bucket // nil: no limit
	breaker *breaker.Breaker
	limit   *limit.Limit
	room    *room.Room
	plan    *retry.Plan
	budget  *budget.Budget
	latency latency.Record
	routes  [Routes]route
	journal journal

	throttle *throttle.Throttle // nil: none
	shares   bool               // it is in force, and refusals are its business
}

// New returns a stack with c's defaults applied. It does not validate c.
func New(c Config) *Stack {
	cfg := c.WithDefaults()
	c = cfg.observed()
	s := &Stack{
		slab:    newSlab(),
		cfg:     cfg,
		slowest: policy.Never,
		watch:   newList(),
		woken:   newList(),
		hedge:   never,
		breaker: breaker.New(c.Breaker),
		limit:   limit.New(c.Limit),
		room:    room.New(c.Room),
		plan:    retry.New(c.Retry),
		budget:  budget.New(c.Budget),
	}
	s.journal = newJournal(c.Trace, s.limit.Max())
	s.setRate(c)
	s.setThrottle(c)
	s.lenient = c.Breaker.Mode == breaker.Observe
	s.seen = s.breaker.Look(0)
	return s
}

// Config returns what stands before the dependency, defaults included.
func (s *Stack) Config() Config { return s.cfg }

// Begin starts the call for which c.Ask was filled in. Ask Next what to do.
func (s *Stack) Begin(now policy.Instant, c *Call) {
	s.advance(now)
	s.counts.Calls++
	c.plan = s.plan.Begin(c.Ask.Deadline, c.Ask.Seed)
}

// Next says what the call has to do now. It may be asked at any time, any
// number of times: until it says Wait or Done it has more to say, and after
// that it repeats itself until something happens.
func (s *Stack) Next(now policy.Instant, c *Call) Step {
	s.advance(now)
	if !c.waiting.IsZero() {
		if step, settled := s.place(c); settled {
			return step
		}
	}
	until := policy.Never
	if c.running > 0 {
		until = s.overdue(c)
	}
	switch {
	case c.over:
		return Step{Kind: Done}
	case c.running == flights: // as many as may be out at once; no hedge is due
		return Step{Kind: Wait, Until: until}
	}
	move, at := s.plan.Next(s.now, &c.plan, s.budget)
	switch {
	case move == retry.Launch:
		return s.offer(c)
	case move == retry.Stop:
		s.outrun(c)
		s.finish(c, c.plan.Why())
		return Step{Kind: Done}
	}
	return Step{Kind: Wait, Until: min(at, until)}
}

// Cancel tells that the caller is gone. Its waiting attempt is undone, its
// running ones become ghosts.
func (s *Stack) Cancel(now policy.Instant, c *Call) {
	s.advance(now)
	s.abandon(c)
	s.dispatch()
}

// Look tells that time has passed. The driver looks once a second while the
// stack is restless, so that a hang and the move to half-open are seen without
// traffic (F18, F26).
func (s *Stack) Look(now policy.Instant) { s.advance(now) }

// Restless reports whether Look may change something without another verb:
// anything is in flight, or the breaker is going to move. A half-open one that
// nobody probes is not, and must not keep awake whoever forgot the stack.
func (s *Stack) Restless() bool {
	return s.limit.InFlight() > 0 || s.room.Len() > 0 || s.seen != breaker.Closed && s.breaker.Due() != policy.Never
}

// Woken returns the next ticket whose owner should ask Next, and whether there
// is one. Drain it before releasing the lock.
func (s *Stack) Woken() (Ticket, bool) {
	if s.woken.head == none { // nearly always, and small enough to be inlined
		return Ticket{}, false
	}
	return s.nextWoken(), true
}

func (s *Stack) nextWoken() Ticket {
	id := s.woken.head
	s.unwake(id)
	return s.ticket(id)
}

func (s *Stack) wake(id int32) {
	if sl := &s.slots[id]; !sl.woken {
		sl.woken = true
		s.woken.push(&s.slab, id, sl)
	}
}

func (s *Stack) unwake(id int32) {
	if sl := &s.slots[id]; sl.woken {
		sl.woken = false
		s.woken.remove(&s.slab, sl)
	}
}

// advance takes in the time: attempts that turned slow are counted, and the
// breaker moves when it is due. Backwards time is nothing elapsed.
func (s *Stack) advance(now policy.Instant) {
	s.now = max(s.now, now)
	if s.now >= s.slowest || s.seen != breaker.Closed { // a closed breaker moves by verdicts alone
		s.catchUp()
	}
}

func (s *Stack) catchUp() {
	s.countSlow()
	if s.seen != breaker.Closed {
		s.lookAtBreaker(s.now)
	}
}
