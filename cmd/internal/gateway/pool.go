package gateway

import (
	"strings"
	"sync/atomic"
	"time"
)

// A pool is the addresses of one upstream. Requests go to each in turn; one
// that could not be connected to is passed over for a second, unless there is
// no other. Its share would otherwise fail first and use up the retry budget of
// all the others.
type pool struct {
	now  func() time.Duration
	list []*address
	turn atomic.Uint32
}

type address struct {
	host    string
	avoided atomic.Int64 // until this instant; 0: not at all
}

const avoidFor = time.Second

// fill takes over addresses as "http://host:port".
func (p *pool) fill(urls []string, now func() time.Duration) {
	p.now = now
	for _, u := range urls {
		p.list = append(p.list, &address{host: strings.TrimPrefix(u, "http://")})
	}
}

// begin draws the place at which a call begins; its attempts go on from there,
// so that a retry does not meet the same address again.
func (p *pool) begin() uint32 { return p.turn.Add(1) - 1 }

// pick returns the address for the nth attempt, counted from 1.
func (p *pool) pick(begin uint32, attempt int) string {
	size := uint32(len(p.list))
	first := begin + uint32(attempt-1)
	if size > 1 {
		now := int64(p.now())
		for i := range size {
			if a := p.list[(first+i)%size]; a.avoided.Load() <= now {
				return a.host
			}
		}
	}
	return p.list[first%size].host
}

// dialed notes whether a connection came about.
func (p *pool) dialed(host string, connected bool) {
	until := int64(0)
	if !connected {
		until = int64(p.now() + avoidFor)
	}
	for _, a := range p.list {
		if strings.EqualFold(a.host, host) {
			a.avoided.Store(until)
		}
	}
}
