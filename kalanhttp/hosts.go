package kalanhttp

import (
	"fmt"
	"hash/maphash"
	"net/http"
	"strings"
	"sync"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/policy/breaker"
	"github.com/kalan-go/kalan/policy/keyed"
)

// Hosts is a guard for each host that requests go to, all of one configuration:
// a host that hangs is refused, and the others are not. It is safe for
// concurrent use. Use [NewHosts].
//
// Their number is capped (O-24). A new host takes the place of one that was
// idle, never of one whose breaker is open or being probed or that has calls in
// flight; where there is no such place, hosts share the guard named "others".
type Hosts struct {
	config kalan.Config
	seed   maphash.Seed

	mu  sync.Mutex
	set *keyed.Set[*kalan.Guard]
}

const (
	// mostHosts is how many hosts have a guard of their own when nobody says.
	mostHosts = 1000
	// tooMany bounds what somebody says: a guard is a dozen kilobytes, and more when it is used.
	tooMany = 1 << 20
)

// NewHosts returns a set of guards that are made as config says, with the host
// as their name, for at most the given number of hosts, up to 1,048,576; 0
// means 1,000. It reports everything that is wrong with config.
func NewHosts(config kalan.Config, most int) (*Hosts, error) {
	if most < 0 || most > tooMany {
		return nil, fmt.Errorf("kalanhttp: %d hosts; write how many may have a guard of their own, up to %d, or 0 for %d", most, tooMany, mostHosts)
	}
	if most == 0 {
		most = mostHosts
	}
	if _, err := kalan.New(config); err != nil {
		return nil, err
	}
	return &Hosts{config: config, seed: maphash.MakeSeed(), set: keyed.New(most, func(g **kalan.Guard) { *g = nil }, inUse)}, nil
}

// inUse reports whether a host's guard knows something that a new one would
// not. A half-open breaker that nobody probes stays half-open for ever, and
// would keep the place of a host that nobody asks for any more.
func inUse(g **kalan.Guard) bool {
	if *g == nil {
		return false
	}
	s := (*g).Snapshot()
	return s.Breaker.State == breaker.Open || s.Breaker.ProbesCounted > 0 || s.InFlight > 0 || s.Waiting > 0
}

// Guard returns the guard of the host that r goes to: the URL's scheme and
// authority.
func (h *Hosts) Guard(r *http.Request) *kalan.Guard {
	host := authority(r)
	var hash maphash.Hash
	hash.SetSeed(h.seed)
	hash.WriteString(r.URL.Scheme)
	hash.WriteByte(':')
	hash.WriteString(host)
	h.mu.Lock()
	defer h.mu.Unlock()
	before := h.set.Overflowed()
	g := h.set.Get(hash.Sum64())
	if *g == nil {
		name := r.URL.Scheme + "://" + host
		if h.set.Overflowed() != before {
			name = "others"
		}
		*g = h.make(name)
	}
	return *g
}

// Guards returns the guards that there are, for [kalan.WatchAll] and for
// whoever shows them.
func (h *Hosts) Guards() []*kalan.Guard {
	h.mu.Lock()
	defer h.mu.Unlock()
	var all []*kalan.Guard
	h.set.All(func(_ uint64, g **kalan.Guard) bool {
		if *g != nil {
			all = append(all, *g)
		}
		return true
	})
	return all
}

func (h *Hosts) make(name string) *kalan.Guard {
	c := h.config
	c.Name = name
	g, err := kalan.New(c)
	if err != nil { // NewHosts has made one of the same configuration
		panic(err)
	}
	return g
}

// authority returns the host and port of a request, in one spelling.
func authority(r *http.Request) string {
	host := strings.ToLower(r.URL.Host)
	switch r.URL.Scheme {
	case "http":
		host = strings.TrimSuffix(host, ":80")
	case "https":
		host = strings.TrimSuffix(host, ":443")
	}
	return host
}
