package gateway

import (
	"strings"
	"sync/atomic"
	"time"
)

// A pool is the addresses of one upstream. Requests go to each in turn; one
// that could not be connected to is passed over for a second, unless there is
// no other. Its share would otherwise fail first and use up the retry budget of
// all the others. One that takes requests and answers none is passed over too,
// and asked once a second whether it has come to: its share is too little for the
// breaker of them all (F25).
type pool struct {
	now  func() time.Duration
	list []*address
	turn atomic.Uint32
}

type address struct {
	host    string
	avoided atomic.Int64 // until this instant; 0: not at all
	silent  atomic.Int32 // requests since the last that was answered
}

const (
	avoidFor = time.Second
	// tooSilent is how many requests in a row an address may leave without an
	// answer: of one that answers others, one or two say something of themselves.
	tooSilent = 3
)

// fill takes over addresses as "http://host:port".
func (p *pool) fill(urls []string, now func() time.Duration) {
	p.now = now
	for _, u := range urls {
		p.list = append(p.list, &address{host: strings.TrimPrefix(u, "http://")})
	}
}

// begin draws the place at which a call begins. What a place would get that is
// passed over is spread over all others: its neighbour alone would have twice its
// share.
func (p *pool) begin() uint32 {
	if len(p.list) > 1 {
		now := int64(p.now())
		for range p.list {
			if place := p.turn.Add(1) - 1; p.at(place).avoided.Load() <= now {
				return place
			}
		}
	}
	return p.turn.Add(1) - 1
}

func (p *pool) at(place uint32) *address { return p.list[place%uint32(len(p.list))] }

// pick returns the address for an attempt at the place, and moves it on, so that
// a retry does not meet the same address again.
func (p *pool) pick(place *atomic.Uint32) *address {
	first := place.Load()
	if len(p.list) > 1 {
		now := int64(p.now())
		for i := range uint32(len(p.list)) {
			if a := p.at(first + i); a.takes(now) {
				place.Store(first + i + 1)
				return a
			}
		}
	}
	place.Store(first + 1)
	return p.at(first)
}

// takes reports whether the address is to be sent a request.
func (a *address) takes(now int64) bool {
	until := a.avoided.Load()
	return until <= now && (a.silent.Load() < tooSilent || a.avoided.CompareAndSwap(until, now+int64(avoidFor)))
}

// answered notes that an answer has come.
func (a *address) answered() {
	if a.silent.Load() > 0 {
		a.silent.Store(0)
		a.avoided.Store(0)
	}
}

// unanswered notes that none has come, for as long as one may take.
func (p *pool) unanswered(a *address) {
	if a.silent.Add(1) >= tooSilent {
		a.avoided.Store(int64(p.now() + avoidFor))
	}
}

// dialed notes whether a connection came about, which is no answer yet.
func (p *pool) dialed(host string, connected bool) {
	for _, a := range p.list {
		switch {
		case !strings.EqualFold(a.host, host):
		case !connected:
			a.avoided.Store(int64(p.now() + avoidFor))
		case a.silent.Load() < tooSilent:
			a.avoided.Store(0)
		}
	}
}
