// Package pace is a rate by itself: so many calls a second, and the next one
// waits for its turn or is refused. It is for whoever must keep to a contract
// ("100 calls a second"), spread out work that nobody waits for, or give every
// customer, address or account the same (F14).
//
// A [Limiter] is one rate for all, a [Set] one for each key, within a fixed
// number of keys. Both are asked in three ways: Allow says yes or no, Take says
// no with the time to come back, and Wait waits for its turn.
//
//	mail, err := pace.New(pace.Config{Name: "mail", Config: bucket.Config{Rate: 20, Burst: 1}})
//	...
//	if err := mail.Wait(ctx, 1); err != nil { // evenly, one every 50 ms
//		return err
//	}
//
// Where calls go to a dependency, a [kalan.Guard] has a rate among the rest,
// which refuses and does not wait. And a rate is no protection against overload:
// it says nothing of how long the calls take. What bounds the work under way is a
// guard's limit.
//
// # How it decides
//
// By package policy/bucket: the generic cell rate algorithm, which lets a burst
// through after a pause and then one call for each interval. With a burst of 1
// calls are evenly spaced. Waiters are served in the order in which they came.
// Whoever could not be served in time, by Config.Wait or before its context
// ends, is refused at once and not when the time is up (O-15); nothing is taken
// for it, and what is taken for a waiter that leaves is given back, unless others
// wait behind it: their turns stay where they are, and nobody gets one of the
// same instant. What is waited for here has its end in the configuration: for how
// long, and by how many (F8, F11).
//
// Keys of a set take places; a new key takes that of one that was idle, in O(1),
// so that a flood of keys costs no memory (O-24; package policy/keyed). A key that
// was forgotten has its whole burst again. Addresses are better told apart by
// [Network]: whoever has one address of IPv6 has 2^64 of them.
//
// # Limits
//
// It is a rate of this process: ten of them allow ten times as much. Nothing is
// shared through a store, since that would be one more dependency to wait for in
// each call; divide the contract by the number of processes. A limit that is
// counted by the calendar, such as "1,000 a day until midnight", is none of
// these: Rate 1000/86400 with Burst 1000 never allows more than that in the long
// run, and up to twice as much within one such day.
package pace

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/internal/field"
	"github.com/kalan-go/kalan/jitter"
	"github.com/kalan-go/kalan/pause"
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/bucket"
	"github.com/kalan-go/kalan/policy/span"
)

// A Limiter is one rate. It is made by New, safe for concurrent use, and needs
// no closing. Most callers use Wait, or Allow where nobody is to wait.
type Limiter struct {
	name  string
	epoch time.Time

	mu      sync.Mutex
	config  Config
	bucket  *bucket.Bucket
	waiting int
	full    uint64 // calls that found no place to wait
}

// New returns a limiter with its whole burst to give, or everything that is
// wrong with c.
func New(c Config) (*Limiter, error) {
	if err := field.Error("pace", c.Name, c.Validate()); err != nil {
		return nil, err
	}
	c = c.WithDefaults()
	return &Limiter{name: c.Name, epoch: time.Now(), config: c, bucket: bucket.New(c.Config)}, nil
}

// Configure changes the rate, the burst and the waits, and keeps what is left of
// the burst. Whoever waits goes on waiting for the turn that it was given.
func (l *Limiter) Configure(c Config) error {
	if err := field.Error("pace", l.name, c.Validate()); err != nil {
		return err
	}
	now := l.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.config = c.WithDefaults()
	l.bucket.Configure(now, l.config.Config)
	return nil
}

// Allow reports whether one call may be made now, and takes it. A refusal costs
// nothing.
func (l *Limiter) Allow() bool {
	now := l.now()
	l.mu.Lock()
	ok := l.bucket.Allow(now)
	l.mu.Unlock()
	return ok
}

// Take takes n calls that may be made now, or returns a [*kalan.Rejection] for
// policy.Rate with the time after which there are as many; 0 where there never
// are.
func (l *Limiter) Take(n int) error {
	now := l.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, ok := l.bucket.Take(now, n); !ok {
		return refuse(l.name, now, l.bucket.RetryAt(now, n))
	}
	return nil
}

// Wait waits until n calls may be made, and takes them. It returns a
// [*kalan.Rejection] and takes nothing when that would take longer than
// Config.Wait or than ctx has time for (policy.Rate, at once), when too many wait
// (policy.Full, with a time to come back that is not the same for all), and when
// ctx ends (policy.Expired or policy.Gone). With Observe it never waits.
func (l *Limiter) Wait(ctx context.Context, n int) error { return wait(ctx, l, n) }

// A Snapshot is how a limiter stands at one moment.
type Snapshot struct {
	// Left is how many calls may be made at once, of Burst; negative while some
	// wait for their turn.
	Left  float64
	Burst int
	// Waiting is how many wait.
	Waiting int
	// Allowed and Refused count calls; with Observe, Refused are those that would
	// have been, and some of them would have waited.
	Allowed, Refused uint64
}

// Snapshot returns how the limiter stands. It changes nothing.
func (l *Limiter) Snapshot() Snapshot {
	now := l.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.bucket.Snapshot(now)
	return Snapshot{Left: b.Left, Burst: b.Burst, Waiting: l.waiting, Allowed: b.Allowed, Refused: b.Refused + l.full}
}

func (l *Limiter) now() policy.Instant { return policy.Instant(time.Since(l.epoch)) }

// reserve takes n calls for somebody who can wait until by. The clock is read
// behind the lock: whoever had an older reading than the call before would have
// to wait for that call's instant.
func (l *Limiter) reserve(n int, by policy.Instant) (turn, policy.Reason) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	mark, at, ok := l.bucket.Reserve(now, n, latest(now, by, l.config.Wait, l.config.Observe))
	switch {
	case !ok:
		return turn{at: at}, policy.Rate
	case at <= now:
		return turn{at: at, mark: mark}, policy.None
	case l.waiting >= l.config.Waiting:
		l.bucket.Undo(now, &mark)
		l.full++
		return turn{at: at}, policy.Full
	}
	l.waiting++
	return turn{at: at, mark: mark, waits: true}, policy.None
}

// latest is when a call's turn may come that can wait until by. One that is only
// observed does not wait.
func latest(now, by policy.Instant, wait time.Duration, observe bool) policy.Instant {
	if observe {
		return now
	}
	return min(by, now.Add(max(wait, 0)))
}

// leave ends a wait, and gives back what was taken for it if it was in vain.
func (l *Limiter) leave(t turn, vain bool) {
	now := l.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting--
	if vain {
		l.bucket.Undo(now, &t.mark)
	}
}

func (l *Limiter) called() string { return l.name }

// A turn is what was taken for a call, and when it may be made.
type turn struct {
	at    policy.Instant
	mark  bucket.Mark // what a limiter gives back
	n     int         // and what a set does
	waits bool
}

// A gate is what a call waits at: a limiter, or a key of a set. Those who use one
// are told its type, since a key that became an interface would be an allocation.
type gate interface {
	called() string
	now() policy.Instant
	reserve(n int, by policy.Instant) (turn, policy.Reason)
	leave(t turn, vain bool)
}

func wait[G gate](ctx context.Context, g G, n int) error {
	if why := pause.Over(ctx); why != policy.None {
		return over(ctx, g.called(), why)
	}
	by := policy.Never
	now := g.now()
	if d, ok := ctx.Deadline(); ok {
		by = now.Add(time.Until(d)) - 1 // at the deadline it is too late
	}
	t, why := g.reserve(n, by)
	switch {
	case why != policy.None:
		err := refuse(g.called(), now, t.at)
		if err.Reason = why; why == policy.Full { // all of them would be told the end of the same line
			err.RetryAfter = span.Range{Min: err.RetryAfter, Max: span.Add(err.RetryAfter, err.RetryAfter/2)}.Pick(rand.Float64())
		}
		return err
	case !t.waits:
		return nil
	}
	_ = jitter.Sleep(ctx, t.at.Sub(now))
	why = pause.Over(ctx) // also when the turn came during a pause of the process, and too late (F23)
	g.leave(t, why != policy.None)
	if why != policy.None {
		return over(ctx, g.called(), why)
	}
	return nil
}

// over is the answer to a caller whose own time is up, or who left.
func over(ctx context.Context, name string, why policy.Reason) error {
	return &kalan.Rejection{Guard: name, Reason: why, Cause: context.Cause(ctx)}
}

// refuse says no, and when to come back.
func refuse(name string, now, at policy.Instant) *kalan.Rejection {
	r := &kalan.Rejection{Guard: name, Reason: policy.Rate}
	if at != policy.Never {
		r.RetryAfter = max(at.Sub(now), 0)
	}
	return r
}
