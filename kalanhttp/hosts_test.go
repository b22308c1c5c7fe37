package kalanhttp_test

import (
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/kalanhttp"
	"github.com/kalan-go/kalan/policy"
)

func request(t testing.TB, url string) *http.Request {
	t.Helper()
	r, err := http.NewRequest("GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func hosts(t testing.TB, c kalan.Config, most int) *kalanhttp.Hosts {
	t.Helper()
	h, err := kalanhttp.NewHosts(c, most)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestOneGuardForEachHost(t *testing.T) {
	h := hosts(t, kalan.Config{}, 0)
	g := h.Guard(request(t, "http://bridge.example/a"))
	for _, same := range []string{"http://bridge.example/b?c", "http://BRIDGE.example:80/", "http://user@bridge.example/"} {
		if h.Guard(request(t, same)) != g {
			t.Errorf("%s has another guard", same)
		}
	}
	for _, other := range []string{"https://bridge.example/", "http://bridge.example:8080/", "http://bridge.example.org/", "http://[::1]/"} {
		if h.Guard(request(t, other)) == g {
			t.Errorf("%s has the same guard", other)
		}
	}
	if g.Name() != "http://bridge.example" || len(h.Guards()) != 5 {
		t.Errorf("%q of %d", g.Name(), len(h.Guards()))
	}
}

// O-24: a flood of hosts neither grows the set nor evicts what is known of one
// that is down.
func TestAFloodOfHosts(t *testing.T) {
	c := kalan.Config{}
	c.Breaker.Calls, c.Breaker.Open = 2, time.Hour
	h := hosts(t, c, 100)
	client := &http.Client{Transport: &kalanhttp.Transport{Hosts: h, Base: tripper(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 503, Body: http.NoBody, Header: http.Header{}, Request: r}, nil
	})}}
	for range 3 {
		client.Get("http://down.example/")
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i := range 10_000 {
		h.Guard(request(t, fmt.Sprintf("http://%d.example/", i)))
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if n := len(h.Guards()); n > 101 {
		t.Errorf("%d guards of at most 100 and one that is shared", n)
	}
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 20<<20 {
		t.Errorf("the heap grew by %d bytes", grown)
	}
	if _, err := client.Get("http://down.example/"); !errors.Is(err, policy.Open) {
		t.Errorf("the breaker was forgotten: %v", err)
	}
}

// Hosts that were down once and are asked for no more give way in the end, or
// they would have every place for ever.
func TestHostsThatNobodyAsksForGiveWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := kalan.Config{}
		c.Breaker.Calls, c.Breaker.Open = 2, time.Minute
		h := hosts(t, c, 10)
		client := &http.Client{Transport: &kalanhttp.Transport{Hosts: h, Base: tripper(func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 503, Body: http.NoBody, Header: http.Header{}, Request: r}, nil
		})}}
		for i := range 10 {
			for range 3 {
				client.Get(fmt.Sprintf("http://%d.example/", i))
			}
		}
		if name := h.Guard(request(t, "http://new.example/")).Name(); name != "others" {
			t.Errorf("%s has the place of one whose breaker is open", name)
		}
		time.Sleep(2 * time.Minute)
		if name := h.Guard(request(t, "http://new.example/")).Name(); name != "http://new.example" {
			t.Errorf("it is one of the %s", name)
		}
	})
}

// Where every place is in use, hosts share one guard, and it says so.
func TestHostsWithoutAPlaceShareAGuard(t *testing.T) {
	c := kalan.Config{}
	c.Breaker.Mode = 1 // every breaker is open: in use
	h := hosts(t, c, 2)
	var last *kalan.Guard
	for i := range 5 {
		last = h.Guard(request(t, fmt.Sprintf("http://%d.example/", i)))
	}
	if last.Name() != "others" || last != h.Guard(request(t, "http://3.example/")) || len(h.Guards()) != 3 {
		t.Errorf("%q of %d", last.Name(), len(h.Guards()))
	}
}

func TestHostsSayWhatIsWrong(t *testing.T) {
	c := kalan.Config{}
	c.Exchange = -1
	if _, err := kalanhttp.NewHosts(c, 0); err == nil || !strings.Contains(err.Error(), "exchange") {
		t.Error(err)
	}
	for _, most := range []int{-1, 1 << 40} { // a slip of the finger is no allocation
		if _, err := kalanhttp.NewHosts(kalan.Config{}, most); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("hosts: guards: %d keys", most)) {
			t.Errorf("%d: %v", most, err)
		}
	}
}

func TestHostsFromManyGoroutines(t *testing.T) {
	h := hosts(t, kalan.Config{}, 10)
	var running sync.WaitGroup
	for i := range 8 {
		running.Go(func() {
			for j := range 500 {
				if h.Guard(request(t, fmt.Sprintf("http://%d.example/", (i*7+j)%40))) == nil {
					t.Error("no guard")
				}
			}
		})
	}
	running.Go(func() {
		for range 100 {
			h.Guards()
		}
	})
	running.Wait()
}

func BenchmarkHosts(b *testing.B) {
	h := hosts(b, kalan.Config{}, 0)
	r := request(b, "http://bridge.example/")
	b.ReportAllocs()
	for b.Loop() {
		h.Guard(r)
	}
}
