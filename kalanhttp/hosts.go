package kalanhttp

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/guards"
)

// Hosts is a guard for each host that requests go to, all of one configuration:
// a host that hangs is refused, and the others are not. It is safe for
// concurrent use. Use [NewHosts].
//
// Their number is capped (O-24). A new host takes the place of one that was
// idle, never of one whose breaker is open or being probed or that has calls in
// flight; where there is no such place, hosts share the guard named "others"
// (package guards).
type Hosts struct{ set *guards.Set[host] }

// NewHosts returns a set of guards that are made like config says, with the
// host as their name, for at most the given number of hosts, up to 1,048,576; 0
// means 1,000. It reports everything that is wrong with config.
func NewHosts(config kalan.Config, most int) (*Hosts, error) {
	config.Name = ""
	set, err := guards.New[host](config, most)
	if err != nil {
		return nil, fmt.Errorf("kalanhttp: hosts: %w", err)
	}
	return &Hosts{set}, nil
}

// A host is where a request goes to.
type host struct{ scheme, authority string }

// String is the name of the host's guard.
func (h host) String() string { return h.scheme + "://" + h.authority }

// Guard returns the guard of the host that r goes to: the URL's scheme and
// authority.
func (h *Hosts) Guard(r *http.Request) *kalan.Guard {
	return h.set.Get(host{r.URL.Scheme, authority(r)})
}

// Guards returns the guards that there are, for [kalan.WatchAll] and for
// whoever shows them.
func (h *Hosts) Guards() []*kalan.Guard { return h.set.All() }

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
