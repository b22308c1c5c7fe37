package settings

import (
	"github.com/kalan-go/kalan/internal/field"

	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// Defences says whether the upstreams are protected.
type Defences uint8

const (
	// DefencesOn protects: every block is in force. The zero value.
	DefencesOn Defences = iota
	// DefencesOff forwards as a proxy does that nobody has configured: no
	// limit, no room, no breaker, no retries, no remaining time, one attempt
	// of up to a minute, whatever the blocks of the upstreams say. It is there
	// to compare with, and to rule the defences out when something is odd.
	// Workers, Drain and the way in stay in force.
	DefencesOff
	// DefencesObserve decides and counts as DefencesOn does and refuses
	// nothing: limits, rooms, breakers, rates and the way in are seen at work
	// before they are. Time limits and retries stay in force, and so do the
	// places of a room and the open connections, without which the gateway
	// itself has no bound.
	DefencesObserve
)

var defences = [...]string{DefencesOn: "on", DefencesOff: "off", DefencesObserve: "observe"}

// String returns "on", "off" or "observe".
func (d Defences) String() string {
	if int(d) < len(defences) {
		return defences[d]
	}
	return fmt.Sprintf("defences(%d)", uint8(d))
}

// MarshalText writes d as UnmarshalText reads it.
func (d Defences) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads "on", "off" or "observe".
func (d *Defences) UnmarshalText(text []byte) error {
	i := slices.Index(defences[:], string(text))
	if i < 0 {
		return fmt.Errorf("%.40q is none of them; write on, off or observe", text)
	}
	*d = Defences(i)
	return nil
}

// A Network is a range of addresses, written "10.0.0.0/8", or one address.
type Network struct{ netip.Prefix }

// UnmarshalText reads a network or a single address.
func (n *Network) UnmarshalText(text []byte) error {
	s := string(text)
	if a, err := netip.ParseAddr(s); err == nil && a.Zone() == "" {
		s = fmt.Sprintf("%s/%d", a, a.BitLen())
	}
	p, err := netip.ParsePrefix(s)
	switch {
	case err != nil:
		return fmt.Errorf("%.60q is not a network; write an address and the bits that count, such as 10.0.0.0/8", text)
	case p.Addr().Is4In6():
		return fmt.Errorf("%.60q is IPv4 written as IPv6; write it as IPv4, such as 10.0.0.0/8", text)
	case p != p.Masked():
		return fmt.Errorf("%.60q has bits beyond its length; write %s", text, p.Masked())
	}
	n.Prefix = p
	return nil
}

// Tenant tells callers apart, so that one of them cannot eat what all share
// (F14).
type Tenant struct {
	// From says what names a tenant. "header:X-Tenant" is believed from trusted
	// peers; everybody else's tenant is its address, and the header is not passed
	// on. "key:X-Api-Key" is a secret that the caller has, and believed from
	// everyone: those without one are one tenant, and whoever invents keys has as
	// many. "certificate" is that of the caller's TLS connection, verified against
	// tls.clients: its URI name if it has one, else the common name. "address",
	// the default, is where it comes from (IPv6: the /64), which a trusted peer
	// says with X-Forwarded-For or Forwarded.
	From string `yaml:"from"`
	// Rate is how many requests a second one tenant may send; 0 means any
	// number.
	Rate float64 `yaml:"rate"`
	// Burst is how many may come at once; 0 means one second's worth.
	Burst int `yaml:"burst"`
	// Weights are the shares of tenants that wait; 1 for those not named.
	Weights map[string]int `yaml:"weights"`
	// Keys is how many tenants are told apart at a time; 100,000 when 0. Those
	// beyond share one place. More cost about 50 bytes each.
	Keys int `yaml:"keys"`
	// Observe counts what is over the rate, and refuses nothing for it.
	Observe bool `yaml:"observe"`
}

func (t *Tenant) withDefaults() *Tenant {
	if t == nil {
		return nil
	}
	full := *t
	field.Default(&full.From, "address")
	field.Default(&full.Keys, 100_000)
	return &full
}

// Priority tells requests apart by importance (F29).
type Priority struct {
	// From says what names a request's level, "header:X-Priority"; empty means
	// that only the route's level counts. It is believed from trusted peers, and
	// of others not passed on.
	From string `yaml:"from"`
	// Levels are the levels, the most important first; critical, default and
	// bulk when empty. The first is never shed for waiting time.
	Levels []string `yaml:"levels"`
}

// levels are the levels of a file that names none.
var levels = []string{"critical", "default", "bulk"}

func (p *Priority) withDefaults() *Priority {
	if p == nil {
		return nil
	}
	full := *p
	if len(full.Levels) == 0 {
		full.Levels = levels
	}
	return &full
}

// LevelOf returns the number of a level, 0 for the most important. "" is the
// level named default, and the last one where there is none of that name.
func (f File) LevelOf(name string) (level uint8, known bool) {
	all := levels
	if f.Priority != nil && len(f.Priority.Levels) > 0 {
		all = f.Priority.Levels
	}
	i := slices.Index(all, name)
	if name == "" {
		if i = slices.Index(all, "default"); i < 0 {
			i = len(all) - 1
		}
	}
	return uint8(max(i, 0)), i >= 0
}

// Source returns what tells tenants apart: "header" or "key", with the name of
// the header, "certificate" or "address".
func (t Tenant) Source() (kind, header string) {
	if kind, header, err := parseSource(t.From); err == nil {
		return kind, header
	}
	return t.From, ""
}

// Header returns the header that names a request's level, "" for none.
func (p Priority) Header() string {
	_, header, _ := parseSource(p.From)
	return header
}

// parseSource reads "header:NAME" or "key:NAME".
func parseSource(source string) (kind, name string, err error) {
	kind, name, ok := strings.Cut(source, ":")
	switch {
	case !ok || kind != "header" && kind != "key":
		return "", "", errors.New("does not say where to look")
	case !isToken(name):
		return "", "", fmt.Errorf("%.60q is not the name of a header", name)
	}
	return kind, name, nil
}
