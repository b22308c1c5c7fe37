package gateway

import (
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kalan-go/kalan/internal/settings"
	"github.com/kalan-go/kalan/policy/limit"
	"github.com/kalan-go/kalan/policy/room"
)

// The queueing cases on the gateway, over real sockets. Packages room and limit
// hold them to the instant in virtual time; here it is that the gateway leads
// to them.

// bulkhead is a configuration with so many slots and a long room.
func bulkhead(address string, slots int) settings.File {
	file := trusting(address)
	file.Tenant = &settings.Tenant{From: "header:X-Tenant"}
	u := &file.Upstreams[0]
	u.Limit, u.Checkout, u.Room = limit.Fixed(slots), time.Minute, room.Config{Window: time.Minute}
	u.Exchange, file.Routes[0].Promise = time.Minute, 2*time.Minute
	return file
}

// O-19: a stall passes, and nothing of what has died in it is done; what is
// alive is answered at once.
func TestWhatHasDiedInAStallIsNotDone(t *testing.T) {
	stall := make(chan struct{})
	var mu sync.Mutex
	var ran []string
	file := bulkhead(backend(t, func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		ran = append(ran, r.URL.Path)
		mu.Unlock()
		<-stall
	}), 1)
	h := open(t, file)
	var all sync.WaitGroup
	ask := func(path string, want int, headers ...string) {
		all.Go(func() {
			if a := h.do(t, "GET", path, "", headers...); a.StatusCode != want {
				t.Errorf("%s: %d", path, a.StatusCode)
			}
		})
	}
	guard := h.upstreams[0].guard
	ask("/first", 200)
	until(t, "the worker is busy", func() bool { return guard.Snapshot().InFlight == 1 })
	for i := range 30 {
		ask(fmt.Sprintf("/dead/%d", i), 504, "X-Remaining-Ms: 400")
	}
	until(t, "they have died", func() bool { return guard.Snapshot().Room.Waiting == 0 && guard.Snapshot().Counts.Calls == 31 })
	ask("/live", 200)
	until(t, "the live one waits", func() bool { return guard.Snapshot().Waiting == 1 })
	close(stall)
	all.Wait()
	if got := strings.Join(ran, " "); got != "/first /live" {
		t.Errorf("the upstream has done %s", got)
	}
}

// O-22: as long as the room is healthy everybody is served in turn.
func TestNobodyStarvesInAHealthyRoom(t *testing.T) {
	if testing.Short() {
		t.Skip("two seconds of real time: left out of -short")
	}
	h := open(t, bulkhead(backend(t, func(http.ResponseWriter, *http.Request) {
		timer := time.NewTimer(50 * time.Millisecond)
		defer timer.Stop()
		<-timer.C
	}), 2))
	var served [10]int
	var all sync.WaitGroup
	end := time.Now().Add(2 * time.Second)
	for i := range served {
		all.Go(func() {
			for time.Now().Before(end) {
				if h.do(t, "GET", "/", "").StatusCode == 200 {
					served[i]++
				}
			}
		})
	}
	all.Wait()
	least, most := served[0], served[0]
	for _, n := range served {
		least, most = min(least, n), max(most, n)
	}
	// A caller that finds no processor for a moment loses a turn, and few lose many.
	if least == 0 || most > least+max(2, least/2) {
		t.Errorf("served: %v", served)
	}
}

// O-23: tenants take turns. One that has a hundred waiting is in nobody's way.
func TestTenantsTakeTurns(t *testing.T) {
	stall := make(chan struct{})
	order := make(chan string, 200)
	h := open(t, bulkhead(backend(t, func(_ http.ResponseWriter, r *http.Request) {
		order <- r.Header.Get("X-Tenant")
		<-stall
	}), 1))
	guard := h.upstreams[0].guard
	var all sync.WaitGroup
	waiting := 0
	ask := func(tenant string) {
		all.Go(func() { h.do(t, "GET", "/", "", "X-Tenant: "+tenant) })
		waiting++
		until(t, "it waits", func() bool { s := guard.Snapshot(); return s.InFlight+s.Waiting == waiting })
	}
	for range 101 {
		ask("H")
	}
	for i := range 9 {
		ask(fmt.Sprintf("L%d", i))
	}
	close(stall)
	all.Wait()
	close(order)
	var served []string
	for tenant := range order {
		served = append(served, tenant)
	}
	if early := strings.Join(served[1:12], " "); strings.Count(early, "L") != 9 {
		t.Errorf("after the first one: %s", early)
	}
}

// O-25: work that does not stop keeps its slot and no more than that. Its
// callers are answered on time, and whoever finds no slot at once.
func TestTimedOutWorkIsBounded(t *testing.T) {
	const slots = 20
	stop := make(chan struct{})
	file := trusting(backend(t, func(http.ResponseWriter, *http.Request) { <-stop }))
	u := &file.Upstreams[0]
	u.Limit, u.Room, u.Exchange, u.Retry.Attempts = limit.Fixed(slots), room.Config{Waiting: -1}, 100*time.Millisecond, 1
	u.Breaker.Calls = 1 << 20 // what is seen here is the limit
	h := open(t, file)
	before := runtime.NumGoroutine()
	var mu sync.Mutex
	answers := make(map[int]int)
	var slowest time.Duration
	var all sync.WaitGroup
	for range 300 {
		all.Go(func() {
			a := h.do(t, "GET", "/", "")
			mu.Lock()
			defer mu.Unlock()
			answers[a.StatusCode]++
			slowest = max(slowest, a.took)
		})
	}
	all.Wait()
	h.client.CloseIdleConnections()
	if answers[504] < slots || answers[503] == 0 || answers[503]+answers[504] != 300 {
		t.Errorf("answers: %v", answers)
	}
	if slowest > 2*patience {
		t.Errorf("a caller was answered after %v", slowest)
	}
	if kept := h.upstreams[0].guard.Snapshot().Kept; kept > slots {
		t.Errorf("%d slots are kept of %d", kept, slots)
	}
	close(stop)
	until(t, "nothing is left", func() bool {
		return h.upstreams[0].guard.Snapshot().InFlight == 0 && runtime.NumGoroutine() <= before+10*slots
	})
}
