package demo

import (
	"sync"
	"time"

	"github.com/kalan-go/kalan/cmd/internal/openloop"
)

// An account is what the callers of each bridge saw in one telling of the
// story.
type account struct {
	bridges []string
	start   time.Time
	hangs   time.Duration // when the first bridge was told to hang, from start
	length  time.Duration

	mu      sync.Mutex
	results [][]openloop.Result // by bridge
	opened  []time.Time         // by bridge: when its breaker was first seen open
}

func newAccount(bridges []string) *account {
	return &account{
		bridges: bridges,
		results: make([][]openloop.Result, len(bridges)),
		opened:  make([]time.Time, len(bridges)),
	}
}

// hear notes a result of a caller of the bridge.
func (a *account) hear(bridge int, r openloop.Result) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.results[bridge] = append(a.results[bridge], r)
}

// sawOpen notes that the bridge's breaker is open; the first time counts.
func (a *account) sawOpen(bridge int, at time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.opened[bridge].IsZero() {
		a.opened[bridge] = at
	}
}

// second returns how many of the callers that were due in the given second got
// their answer in time, and how many there were.
func (a *account) second(bridge, n int) (inTime, due int) {
	a.each(bridge, func(r openloop.Result) {
		if int(r.Shot.At.Sub(a.start)/time.Second) != n {
			return
		}
		due++
		if r.Outcome == openloop.InTime {
			inTime++
		}
	})
	return inTime, due
}

// each visits the results of a bridge.
func (a *account) each(bridge int, visit func(openloop.Result)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, r := range a.results[bridge] {
		visit(r)
	}
}

// all tallies the results of a bridge.
func (a *account) all(bridge int) *openloop.Tally {
	tally := new(openloop.Tally)
	a.each(bridge, tally.Hear)
	return tally
}

// refusals tallies the callers that were refused before the bridge's breaker
// opened, and those that came after. Waiters that the opening itself sent away
// came before it. While no breaker opens, all came before. Latencies are
// changed by from.
func (a *account) refusals(bridge int, from func(openloop.Result) openloop.Result) (before, after *openloop.Tally) {
	opened := a.opened[bridge]
	before, after = new(openloop.Tally), new(openloop.Tally)
	a.each(bridge, func(r openloop.Result) {
		switch {
		case r.Outcome != openloop.Refused:
		case !opened.IsZero() && r.Shot.At.After(opened):
			after.Hear(from(r))
		default:
			before.Hear(from(r))
		}
	})
	return before, after
}

// sinceDue leaves a latency as it is: from the instant when the caller was due.
func sinceDue(r openloop.Result) openloop.Result { return r }

// sinceSent takes the generator's own lateness off: what remains is the
// gateway's and the network's.
func sinceSent(r openloop.Result) openloop.Result {
	r.Took -= r.Lag
	return r
}

// opening returns how long after the hang the bridge's breaker opened.
func (a *account) opening(bridge int) (time.Duration, bool) {
	if a.opened[bridge].IsZero() {
		return 0, false
	}
	return a.opened[bridge].Sub(a.start) - a.hangs, true
}

// fall returns how long after the hang the bridge's callers were lost: the
// beginning of the first second from which on, until the end, fewer than one in
// ten was answered in time.
func (a *account) fall(bridge int) (time.Duration, bool) {
	lost := -1
	for n := int(a.hangs / time.Second); n < int(a.length/time.Second); n++ {
		inTime, due := a.second(bridge, n)
		switch {
		case 10*inTime >= due:
			lost = -1
		case lost < 0:
			lost = n
		}
	}
	if lost < 0 {
		return 0, false
	}
	return max(0, seconds(lost)-a.hangs), true
}

// lag returns how far behind its schedule the generator sent 99 of 100
// requests: what this machine adds to every latency.
func (a *account) lag() time.Duration {
	var worst time.Duration
	for i := range a.bridges {
		worst = max(worst, a.all(i).Lag(.99))
	}
	return worst
}
