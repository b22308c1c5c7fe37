package gateway

import (
	"net/http"
	"sync/atomic"
	"testing"
	"time"
)

// Of addresses that take requests and answer none, one request a second finds
// out about each, and all others go where there are answers.
func TestThePoolPassesOverWhoIsSilent(t *testing.T) {
	var now time.Duration
	var p pool
	p.fill([]string{"http://a:1", "http://b:1", "http://c:1"}, func() time.Duration { return now })
	picked := func() (hosts string) {
		for range 6 {
			var place atomic.Uint32
			place.Store(p.begin())
			hosts += p.pick(&place).host[:1]
		}
		return hosts
	}
	a := p.list[0]
	look := func(what, want string) {
		t.Helper()
		if got := picked(); got != want {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
	}
	look("at first", "abcabc")
	p.unanswered(a)
	p.unanswered(a)
	look("after two", "abcabc")
	a.answered()
	p.unanswered(a)
	p.unanswered(a)
	look("after two more, and an answer between", "abcabc")
	p.unanswered(a)
	look("after three", "bcbcbc")
	var place atomic.Uint32 // that of the silent one
	if first, second := p.pick(&place).host, p.pick(&place).host; first != "b:1" || second != "c:1" {
		t.Errorf("a call goes to %s and then to %s", first, second)
	}
	now += avoidFor
	look("a second later", "abcbcb")
	p.dialed("a:1", true)
	look("when that has connected", "cbcbcb")
	now += avoidFor
	look("another second later", "cabcbc")
	a.answered()
	look("when it has answered", "abcabc")
	for range tooSilent {
		for _, each := range p.list {
			p.unanswered(each)
		}
	}
	look("when all are silent", "abcabc")
}

// F25: of two addresses one hangs, which is too little for the breaker.
func TestASilentAddressIsPassedOver(t *testing.T) {
	if testing.Short() {
		t.Skip("four seconds of real time: left out of -short")
	}
	var asked atomic.Int32
	well := make(chan struct{})
	silent := backend(t, func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		select {
		case <-well:
		case <-r.Context().Done():
		}
	})
	file := fileFor(silent, backend(t, answers("ok")))
	u := &file.Upstreams[0]
	u.Exchange, u.Retry.Attempts, u.Breaker.Calls = time.Second, 1, 1000
	h := open(t, file)
	until(t, "it is passed over", func() bool {
		h.do(t, "GET", "/", "")
		return h.upstreams[0].pool.list[0].silent.Load() >= tooSilent
	})
	before := asked.Load()
	began := time.Now()
	for range 100 {
		h.do(t, "GET", "/", "")
	}
	if n, most := asked.Load()-before, int32(time.Since(began)/avoidFor)+1; n > most {
		t.Errorf("%d of 100 requests in %v", n, time.Since(began))
	}
	close(well)
	until(t, "it has come to", func() bool {
		h.do(t, "GET", "/", "")
		return h.upstreams[0].pool.list[0].silent.Load() == 0
	})
}
