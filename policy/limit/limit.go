package limit

import (
	"time"

	"github.com/kalan-go/kalan/policy"
)

// A Limit hands out slots. Make one with New. It does no locking; all verbs are
// told the time.
type Limit struct {
	last     policy.Instant
	inFlight int
	slots    int
	config   Config
	adaptive bool // config.Kind is Adaptive
	blind    bool
	counts   Counts
	seen     measure
	own      own
	classic  classic
}

// A Token is one slot that was taken. The zero Token holds nothing, and a
// token that was given back is zero again, so that giving it back twice
// changes nothing. It has four fields, the most that the compiler keeps in
// registers: a fifth made taking a slot 10 ns slower.
type Token struct {
	at    policy.Instant
	n     int32 // in flight when it was taken, itself included
	epoch uint32
	holds holding
}

// A holding is what a token stands for.
type holding uint8

const (
	nothing   holding = iota
	slot              // one slot
	inACohort         // one slot, taken by a call of a low phase's cohort
)

// A Sample says how the work in a slot ended.
type Sample struct {
	// Outcome is what the work tells of the dependency.
	Outcome policy.Outcome
	// Late: the answer came when its caller could no longer use it, or never.
	Late bool
	// Refused: the dependency said itself that it had no room for the call.
	Refused bool
	// Remaining is how long the caller could have waited when the work began;
	// 0 where that is unknown or without a bound.
	Remaining time.Duration
}

// answered reports whether the dependency did the work, be its answer welcome
// or not. How long an error took says nothing: a quick one is no quick service.
func (s *Sample) answered() bool {
	return !s.Refused && (s.Outcome == policy.Success || s.Outcome == policy.Ignored)
}

// New returns a limit with every slot free; config's zero fields are the
// documented defaults.
func New(config Config) *Limit {
	l := &Limit{config: config.WithDefaults()}
	l.begin()
	return l
}

// begin forgets what was found.
func (l *Limit) begin() {
	l.adaptive = l.config.Kind == Adaptive
	l.own, l.classic = newOwn(l.config.Observe), newClassic(l.config.Kind)
	l.own.last = l.last
	l.apply()
}

// Configure changes the configuration. Slots that are taken stay taken, also
// when there are more of them than the new limit has; a number that was found
// is kept unless it is to be found another way.
func (l *Limit) Configure(now policy.Instant, config Config) {
	l.see(now)
	was := l.config
	l.config = config.WithDefaults()
	if l.config.Kind != was.Kind || l.config.Observe != was.Observe {
		l.begin()
	}
	l.apply()
}

// Free reports whether a slot can be taken.
func (l *Limit) Free() bool { return l.inFlight < l.slots || l.config.Observe }

// Max returns how many slots there are now.
func (l *Limit) Max() int { return l.slots }

// InFlight returns how many slots are taken.
func (l *Limit) InFlight() int { return l.inFlight }

// Take takes a slot, whether or not one is free: the caller has asked Free, or
// takes the one slot above the limit that is reserved for a breaker's probe.
func (l *Limit) Take(now policy.Instant) Token {
	t := Token{at: l.see(now), epoch: l.own.epoch, holds: slot}
	l.inFlight++
	l.counts.Taken++
	if l.inFlight > l.slots {
		l.counts.Over++
	}
	if l.own.phase == low && l.own.take(l.inFlight) {
		t.holds = inACohort
	}
	t.n = int32(l.inFlight)
	return t
}

// Undo gives back the slot of a call that never started: it tells nothing.
func (l *Limit) Undo(now policy.Instant, t *Token) {
	l.see(now)
	told := *t
	if l.release(t) {
		l.counts.Taken--
		l.own.leave(told, false)
	}
}

// Give gives back the slot of a call that ran, and says how it ended.
func (l *Limit) Give(now policy.Instant, t *Token, s Sample) {
	now = l.see(now)
	told, inFlight := *t, l.inFlight
	if !l.release(t) {
		return
	}
	took := max(1, time.Duration(now-told.at)) // neither lies before 0: nothing overflows
	l.count(&s)
	l.seen.last = now
	if s.answered() || s.Late && !s.Refused {
		l.seen.add(took, told.n, l.slots)
	}
	if l.blind || l.config.Kind.adapts() {
		l.learn(told, inFlight, took, s)
	}
}

// learn lets a call that ended change the number.
func (l *Limit) learn(told Token, inFlight int, took time.Duration, s Sample) {
	switch {
	case l.adaptive:
		l.own.give(told, inFlight, took, &s)
	case l.config.Kind.adapts():
		l.classic.give(told, inFlight, took, &s)
	}
	l.lookUp(told, took, &s)
	l.apply()
}

func (l *Limit) count(s *Sample) {
	if s.Late {
		l.counts.Late++
	}
	if s.Refused {
		l.counts.Refused++
	}
}

// lookUp ends a time in which everything was refused on a prediction that
// nothing could correct any more: the one call that was let through says how
// things are now.
func (l *Limit) lookUp(t Token, took time.Duration, s *Sample) {
	if !l.blind || t.n != 1 || !s.answered() {
		return
	}
	l.blind = false
	l.seen.renew()
	l.seen.add(took, 1, l.slots)
	l.own.relearn(took, s)
	l.classic = newClassic(l.config.Kind)
}

// Refused tells that a call was refused before it began, and why. It matters
// when the reason is policy.Expired and nothing is in flight: then it is the
// limit's own prediction that keeps everybody out.
func (l *Limit) Refused(now policy.Instant, why policy.Reason) {
	l.see(now)
	if why == policy.Expired && l.inFlight == 0 {
		l.blind = true
	}
}

// Predict returns how long a call that is the n-th in flight is expected to
// take, with its usual deviation. It is 0 while that is unknown, which it is
// again when nothing was in flight for a second: then one call is to be let
// through to see.
func (l *Limit) Predict(now policy.Instant, n int) time.Duration {
	m := &l.seen
	if m.answers == 0 || l.inFlight == 0 && m.stale(max(now, l.last)) {
		return 0
	}
	if l.adaptive {
		return l.own.predict(n, m)
	}
	return m.expected(n)
}

// apply makes the number that was found the limit.
func (l *Limit) apply() {
	l.slots = l.config.Max
	switch {
	case l.adaptive:
		l.slots = min(l.own.limit(), l.config.Max)
	case l.config.Kind.adapts():
		l.slots = min(l.classic.limit(), l.config.Max)
	}
}

// release empties t and reports whether it held a slot.
func (l *Limit) release(t *Token) bool {
	if t.holds == nothing {
		return false
	}
	*t = Token{}
	l.inFlight--
	return true
}

// see returns now, or the last instant seen if now lies before it.
func (l *Limit) see(now policy.Instant) policy.Instant {
	if now > l.last {
		l.last = now
		if l.adaptive {
			l.own.pass(now, l.inFlight)
		}
	}
	return l.last
}
