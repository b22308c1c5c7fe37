// Package limit says how many calls to one dependency may run at once, for
// whoever guards a dependency that gets slower, not faster, when it is given
// more than it can do.
//
// A Limit counts slots. A call takes one before it starts and gives it back
// when the dependency has really finished with it, whoever has stopped waiting
// for the answer: a slot that is freed while the work goes on lets the
// dependency drown in work that nobody wants. Where a call may wait for a slot
// is the business of package room.
//
// A fixed limit is a guess that holds as long as nothing changes (F15: 25).
// It is the right choice where the dependency states how many it serves, such
// as a database with a fixed pool.
//
// The limit does not queue, does not know deadlines and does not refuse: the
// caller asks Free, and decides.
package limit

import "github.com/kalan-go/kalan/policy"

// A Limit hands out slots. It does no locking; all verbs are told the time.
type Limit struct {
	config   Config
	max      int
	inFlight int
	last     policy.Instant
}

// A Token is one slot that was taken. The zero Token holds nothing, and a
// token that was given back is zero again, so that giving it back twice
// changes nothing.
type Token struct {
	at   policy.Instant
	held bool
}

// A Sample says how the work in a slot ended.
type Sample struct {
	// Outcome is what the work tells of the dependency.
	Outcome policy.Outcome
	// Late: the answer came when its caller could no longer use it, or never.
	Late bool
	// Refused: the dependency said itself that it had no room for the call.
	Refused bool
}

// New returns a limit with every slot free; config's zero fields are the
// documented defaults.
func New(config Config) *Limit {
	config = config.WithDefaults()
	return &Limit{config: config, max: config.Max}
}

// Free reports whether a slot can be taken.
func (l *Limit) Free() bool { return l.inFlight < l.max }

// Max returns how many slots there are now.
func (l *Limit) Max() int { return l.max }

// InFlight returns how many slots are taken.
func (l *Limit) InFlight() int { return l.inFlight }

// Take takes a slot, whether or not one is free: the caller has asked Free, or
// takes the one slot above the limit that is reserved for a breaker's probe.
func (l *Limit) Take(now policy.Instant) Token {
	l.inFlight++
	return Token{at: l.see(now), held: true}
}

// Undo gives back the slot of a call that never started: it tells nothing.
func (l *Limit) Undo(now policy.Instant, t *Token) {
	l.see(now)
	l.release(t)
}

// Give gives back the slot of a call that ran, and says how it ended.
func (l *Limit) Give(now policy.Instant, t *Token, _ Sample) {
	l.see(now)
	l.release(t)
}

// release empties t and reports whether it held a slot.
func (l *Limit) release(t *Token) bool {
	if !t.held {
		return false
	}
	*t = Token{}
	l.inFlight--
	return true
}

// see returns now, or the last instant seen if now lies before it.
func (l *Limit) see(now policy.Instant) policy.Instant {
	l.last = max(l.last, now)
	return l.last
}
