package gateway

import (
	"fmt"
	"net/http"
	"net/netip"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kalan-go/kalan/cmd/internal/gateway/wire"
	"github.com/kalan-go/kalan/internal/settings"
	"github.com/kalan-go/kalan/policy/limit"
	"github.com/kalan-go/kalan/policy/room"
)

func network(s string) settings.Network { return settings.Network{Prefix: netip.MustParsePrefix(s)} }

// trusting is a configuration whose callers, all from this machine, are
// trusted.
func trusting(address string) settings.File {
	file := fileFor(address)
	file.Trust = []settings.Network{network("127.0.0.0/8")}
	return file
}

// TestClaimsOfStrangersAreNotPassedOn: the next gateway trusts this one, and would
// believe what this one has not.
func TestClaimsOfStrangersAreNotPassedOn(t *testing.T) {
	claims := []string{"X-Priority: critical", "X-Tenant: gold", "X-Api-Key: secret"}
	for _, c := range []struct {
		name, from, want string
		trusted          bool
	}{
		{"strangers", "header:X-Tenant", "||secret", false},
		{"a trusted peer", "header:X-Tenant", "critical|gold|secret", true},
		{"strangers with keys", "key:X-Api-Key", "|gold|secret", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := fileFor(backend(t, func(w http.ResponseWriter, r *http.Request) {
				fmt.Fprint(w, r.Header.Get("X-Priority"), "|", r.Header.Get("X-Tenant"), "|", r.Header.Get("X-Api-Key"))
			}))
			if c.trusted {
				file.Trust = []settings.Network{network("127.0.0.0/8")}
			}
			file.Tenant = &settings.Tenant{From: c.from}
			file.Priority = &settings.Priority{From: "header:X-Priority"}
			if a := open(t, file).do(t, "GET", "/", "", claims...); a.body != c.want {
				t.Errorf("the upstream sees %q, want %q", a.body, c.want)
			}
		})
	}
}

// What a stage refuses has cost its tenant nothing.
func TestATenantPaysNotForWhatAStageRefuses(t *testing.T) {
	file := trusting(backend(t, answers("ok")))
	file.Tenant = &settings.Tenant{From: "header:X-Tenant", Rate: 1e-6, Burst: 2}
	file.Accept = &settings.Accept{Stages: []settings.Stage{{Name: "login", Rate: 1e-6, Burst: 1}}}
	file.Routes = append(file.Routes, settings.Route{Match: settings.Match{Prefix: "/login"}, Upstream: "bridge", Stage: "login"})
	h := open(t, file)
	for i, c := range []struct {
		path   string
		status int
	}{{"/login", 200}, {"/login", 503}, {"/", 200}, {"/", 429}} {
		if a := h.do(t, "GET", c.path, "", "X-Tenant: a"); a.StatusCode != c.status {
			t.Errorf("%d. %s: %d, want %d", i+1, c.path, a.StatusCode, c.status)
		}
	}
}

// One tenant is over its rate, and nobody else is (F14).
func TestTheRateOfATenant(t *testing.T) {
	file := trusting(backend(t, answers("ok")))
	file.Tenant = &settings.Tenant{From: "header:X-Tenant", Rate: .001, Burst: 3}
	h := open(t, file)
	for i, want := range []int{200, 200, 200, 429, 429} {
		a := h.do(t, "GET", "/", "", "X-Tenant: a")
		if a.StatusCode != want {
			t.Fatalf("the %d. of a: %d", i+1, a.StatusCode)
		}
		if want == 429 {
			p := a.problem(t)
			if after, _ := strconv.Atoi(a.Header.Get("Retry-After")); p.Reason != "rate" || p.Guard != "tenant" || after < 900 {
				t.Errorf("%s, back after %q", a.body, a.Header.Get("Retry-After"))
			}
		}
	}
	if a := h.do(t, "GET", "/", "", "X-Tenant: b"); a.StatusCode != 200 {
		t.Errorf("b: %d", a.StatusCode)
	}
	for i, tenant := range []string{"X-Nothing: x", "X-Tenant: ", "X-Nothing: y", "X-Tenant: "} { // one tenant: nobody
		if a := h.do(t, "GET", "/", "", tenant); a.StatusCode == 200 != (i < 3) {
			t.Errorf("the %d. of nobody: %d", i+1, a.StatusCode)
		}
	}
	if s := h.tenants.Snapshot(); s.Keys != 3 || s.Refused != 3 {
		t.Errorf("%+v", s)
	}
	if n := h.upstreams[0].guard.Snapshot().Counts.Calls; n != 7 {
		t.Errorf("the guard has heard of %d calls, want the 7 that passed", n)
	}
}

// O-37 on the gateway: the left part of the header chooses no bucket.
func TestForwardedCallersHaveTheirOwnRate(t *testing.T) {
	file := trusting(backend(t, answers("ok")))
	file.Tenant = &settings.Tenant{From: "address", Rate: .001, Burst: 5}
	h := open(t, file)
	for i := range 100 {
		a := h.do(t, "GET", "/", "", fmt.Sprintf("X-Forwarded-For: 1.1.1.%d, 7.7.7.7", i))
		if a.StatusCode == 200 != (i < 5) {
			t.Fatalf("the %d.: %d", i+1, a.StatusCode)
		}
	}
	for i := range 100 { // one /64
		a := h.do(t, "GET", "/", "", fmt.Sprintf("Forwarded: for=\"[2001:db8::%x]\"", i+1))
		if a.StatusCode == 200 != (i < 5) {
			t.Fatalf("the %d. of a /64: %d", i+1, a.StatusCode)
		}
	}
}

// Nonsense from whoever is not trusted is ignored, and chooses nothing.
func TestWhoIsNotTrustedIsNotBelieved(t *testing.T) {
	file := fileFor(backend(t, answers("ok")))
	file.Tenant = &settings.Tenant{From: "header:X-Tenant", Rate: .001, Burst: 4}
	file.Priority = &settings.Priority{From: "header:X-Priority"}
	h := open(t, file)
	for i, lines := range [][]string{
		{"X-Tenant: a"}, {"X-Tenant: b", "X-Tenant: c"}, {"X-Priority: utmost"}, {"X-Tenant: caf\xc3\xa9"}, {"X-Tenant: e"},
	} {
		if a := h.do(t, "GET", "/", "", lines...); a.StatusCode == 200 != (i < 4) {
			t.Errorf("%q: %d", lines, a.StatusCode)
		}
	}
}

func TestNonsenseFromATrustedPeerIsRefused(t *testing.T) {
	file := trusting(backend(t, answers("ok")))
	file.Tenant = &settings.Tenant{From: "header:X-Tenant"}
	file.Priority = &settings.Priority{From: "header:X-Priority"}
	h := open(t, file)
	for _, lines := range [][]string{{"X-Tenant: b", "X-Tenant: c"}, {"X-Priority: utmost"}} {
		if a := h.do(t, "GET", "/", "", lines...); a.StatusCode != 400 || !strings.Contains(a.problem(t).Detail, "send") {
			t.Errorf("%q: %d %s", lines, a.StatusCode, a.body)
		}
	}
	if a := h.do(t, "GET", "/", "", "X-Tenant: "+strings.Repeat("x", 5000), "X-Priority: bulk"); a.StatusCode != 200 {
		t.Errorf("a long name: %d", a.StatusCode)
	}
}

// F29: a critical call takes the place of one that is not.
func TestPriorityOfARequest(t *testing.T) {
	release := make(chan struct{})
	file := trusting(backend(t, func(http.ResponseWriter, *http.Request) { <-release }))
	file.Priority = &settings.Priority{From: "header:X-Priority"}
	u := &file.Upstreams[0]
	u.Limit, u.Room, u.Checkout = limit.Fixed(1), room.Config{Waiting: 1}, 5*time.Second
	u.Exchange, file.Routes[0].Promise = 30*time.Second, 30*time.Second
	h := open(t, file)
	ends := make(chan string, 3)
	ask := func(level string) {
		a := h.do(t, "GET", "/", "", "X-Priority: "+level)
		ends <- fmt.Sprint(level, " ", a.StatusCode)
	}
	waiting := func(n int) func() bool {
		return func() bool { s := h.upstreams[0].guard.Snapshot(); return s.InFlight == 1 && s.Waiting == n }
	}
	go ask("default")
	until(t, "the slot is taken", waiting(0))
	go ask("bulk")
	until(t, "the place is taken", waiting(1))
	go ask("critical")
	if got := receive(t, "the displaced one", ends); got != "bulk 503" {
		t.Errorf("displaced: %s", got)
	}
	close(release)
	for range 2 {
		if got := receive(t, "an answer", ends); !strings.HasSuffix(got, "200") {
			t.Errorf("%s", got)
		}
	}
}

// F4: a login costs more than a request, and one account that logs in again
// and again uses up its own share.
func TestStages(t *testing.T) {
	file := trusting(backend(t, answers("ok")))
	file.Tenant = &settings.Tenant{From: "key:X-Api-Key"}
	file.Accept = &settings.Accept{Stages: []settings.Stage{
		{Name: "login", Rate: .001, Burst: 5, PerTenant: settings.Quota{Rate: .001, Burst: 2}},
		{Name: "subscription", Rate: .001, Burst: 1, PerAddress: settings.Quota{Rate: .001, Burst: 3}},
	}}
	file.Routes = append(file.Routes,
		settings.Route{Match: settings.Match{Prefix: "/login"}, Upstream: "bridge", Stage: "login"},
		settings.Route{Match: settings.Match{Prefix: "/subscribe"}, Upstream: "bridge", Stage: "subscription"})
	h := open(t, file)
	for i, c := range []struct {
		path, key string
		want      int
		guard     string
	}{
		{"/login", "a", 200, ""}, {"/login", "a", 200, ""}, {"/login", "a", 429, "stage login"}, {"/login", "a", 429, "stage login"},
		{"/login", "b", 200, ""}, {"/login", "b", 200, ""}, {"/login", "c", 200, ""},
		{"/login", "d", 503, "stage login"},
		{"/subscribe", "a", 200, ""}, {"/subscribe", "b", 503, "stage subscription"},
		{"/prices", "a", 200, ""},
	} {
		a := h.do(t, "GET", c.path, "", "X-Api-Key: "+c.key)
		if a.StatusCode != c.want {
			t.Errorf("the %d.: %d", i+1, a.StatusCode)
		} else if c.want != 200 {
			after, _ := strconv.Atoi(a.Header.Get("Retry-After"))
			if p := a.problem(t); p.Guard != c.guard || p.Reason != "rate" || after < 3 {
				t.Errorf("the %d.: %s", i+1, a.body)
			}
		}
	}
	h.counts(t,
		`kalan_stage_passed_total{stage="login"} 5`, `kalan_stage_refused_total{limit="tenant",stage="login"} 2`,
		`kalan_stage_refused_total{limit="rate",stage="login"} 1`, `kalan_stage_passed_total{stage="subscription"} 1`)
}

// What only observes counts what it would have refused, and refuses nothing.
func TestObservingRefusesNothing(t *testing.T) {
	file := trusting(backend(t, answers("ok")))
	file.Defences = settings.DefencesObserve
	file.Tenant = &settings.Tenant{From: "header:X-Tenant", Rate: .001, Burst: 1}
	file.Accept = &settings.Accept{Rate: .001, Burst: 1, Stages: []settings.Stage{{Name: "all", Rate: .0001, Burst: 1}}}
	file.Routes[0].Stage = "all"
	u := &file.Upstreams[0]
	u.Limit, u.Rate = limit.Fixed(1), .001
	h := open(t, file)
	for i := range 5 {
		if a := h.do(t, "GET", "/", ""); a.StatusCode != 200 {
			t.Fatalf("the %d.: %d %s", i+1, a.StatusCode, a.body)
		}
		h.client.CloseIdleConnections() // each on a connection of its own
	}
	h.counts(t,
		`kalan_connections_refused_total{limit="rate"} 4`, `kalan_tenant_refused_total 4`,
		`kalan_stage_refused_total{limit="rate",stage="all"} 4`, `kalan_would_refuse_total{reason="rate",upstream="bridge"} 4`)
}

// O-36: probes pass everything, and nothing of the limits hears of them.
func TestProbesPassEverything(t *testing.T) {
	release := make(chan struct{})
	file := fileFor(backend(t, func(http.ResponseWriter, *http.Request) { <-release }))
	file.Accept = &settings.Accept{Rate: 1e-6, Burst: 12}
	file.Tenant = &settings.Tenant{Rate: .001, Burst: 10}
	u := &file.Upstreams[0]
	u.Room = room.Config{Waiting: -1}
	u.Exchange, file.Routes[0].Promise = 30*time.Second, 30*time.Second
	h := open(t, file)
	ends := make(chan int, 10)
	for range 10 {
		go func() { ends <- h.do(t, "GET", "/", "").StatusCode }()
	}
	until(t, "every slot is taken", func() bool { return h.upstreams[0].guard.Snapshot().InFlight == 10 })
	if a := h.do(t, "GET", "/", ""); a.StatusCode == 200 {
		t.Fatal("there is room left")
	}
	before := h.upstreams[0].guard.Snapshot()
	took := make([]time.Duration, 60)
	for i := range took {
		begin := time.Now()
		if code, text := h.probe(t, "/livez"); code != 200 || text != "alive\n" {
			t.Fatalf("%d %q", code, text)
		}
		took[i] = time.Since(begin)
	}
	if code, _ := h.probe(t, "/readyz"); code != 200 {
		t.Errorf("/readyz: %d", code)
	}
	after := h.upstreams[0].guard.Snapshot()
	if after.InFlight != 10 || after.Counts != before.Counts || after.Slots.Taken != before.Slots.Taken {
		t.Errorf("%+v, before the probes %+v", after, before)
	}
	slices.Sort(took)
	t.Logf("the slowest probe took %v", took[59])
	if median := took[30]; median > time.Second { // a machine may stand still during some of them
		t.Errorf("half of the probes took %v and more", median)
	}
	close(release)
	for range 10 {
		receive(t, "an answer", ends)
	}
}

// O-24 on the gateway: more tenants and addresses than there are places, in all
// four tables at once. Package quota has the million.
func TestManyCallersAreBounded(t *testing.T) {
	file := trusting("http://127.0.0.1:1")
	file.Tenant = &settings.Tenant{From: "header:X-Tenant", Rate: 10}
	file.Accept = &settings.Accept{
		Rate: 1e9, PerAddress: settings.Quota{Rate: 10},
		Stages: []settings.Stage{{Name: "login", Rate: 1e8, PerAddress: settings.Quota{Rate: 10}, PerTenant: settings.Quota{Rate: 10}}},
	}
	file.Routes[0].Stage = "login"
	h := open(t, file)
	before := heapSize()
	trust := wire.Trust{netip.MustParsePrefix("127.0.0.0/8")}
	peer := trust.Peer("127.0.0.1:1")
	r := &http.Request{Header: make(http.Header)}
	target := &h.targets[0]
	for i := range 250_000 {
		r.Header["X-Tenant"] = []string{strconv.Itoa(i)}
		r.Header["X-Forwarded-For"] = []string{fmt.Sprintf("%d.%d.%d.7", i>>16&255, i>>8&255, i&255)}
		x := &exchange{g: h.Gateway, peer: peer, r: r, target: target}
		if p := x.identify(); p != nil {
			t.Fatal(p.Detail)
		}
		if p := x.pace(); p != nil {
			t.Fatal(p.Guard)
		}
	}
	if grown := heapSize() - before; grown > 20<<20 {
		t.Errorf("the heap has grown by %d MB", grown>>20)
	}
	if s := h.tenants.Snapshot(); s.Keys > 100_000 || s.Evicted < 140_000 {
		t.Errorf("%+v", s)
	}
}

func heapSize() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
