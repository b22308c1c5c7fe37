package kalan

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/kalan-go/kalan/policy/span"
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
)

// String returns "on" or "off".
func (d Defences) String() string {
	if d == DefencesOff {
		return "off"
	}
	return "on"
}

// MarshalText writes d as UnmarshalText reads it.
func (d Defences) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads "on" or "off".
func (d *Defences) UnmarshalText(text []byte) error {
	switch string(text) {
	case "on":
		*d = DefencesOn
	case "off":
		*d = DefencesOff
	default:
		return fmt.Errorf("%.40q is neither; write on or off", text)
	}
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

// Accept limits new connections (F4). What is over a limit is refused at once
// and never held.
type Accept struct {
	// Rate is how many new connections a second are taken; 0 means any number.
	Rate float64 `yaml:"rate"`
	// Burst is how many may come at once; 0 means one second's worth.
	Burst int `yaml:"burst"`
	// Connections is how many may be open; 20,000 when 0.
	Connections int `yaml:"connections"`
	// RetryAfter is the range from which the refused are told when to come
	// back; 3 s to 8 s when zero.
	RetryAfter span.Range `yaml:"retry_after"`
	// PerAddress limits one address (IPv6: one /64).
	PerAddress PerAddress `yaml:"per_address"`
}

// PerAddress limits the new connections of one address.
type PerAddress struct {
	// Rate is how many a second are taken; 0 means any number.
	Rate float64 `yaml:"rate"`
	// Burst is how many may come at once; 0 means one second's worth.
	Burst int `yaml:"burst"`
}

func (a *Accept) withDefaults() *Accept {
	if a == nil {
		return nil
	}
	full := *a
	fill(&full.Connections, 20_000)
	fill(&full.RetryAfter, span.Range{Min: 3 * time.Second, Max: 8 * time.Second})
	return &full
}

// Tenant tells callers apart, so that one of them cannot eat what all share
// (F14).
type Tenant struct {
	// From says what names a tenant: "header:X-Api-Key", "certificate" or
	// "address", which is the default.
	From string `yaml:"from"`
	// Rate is how many requests a second one tenant may send; 0 means any
	// number.
	Rate float64 `yaml:"rate"`
	// Burst is how many may come at once; 0 means one second's worth.
	Burst int `yaml:"burst"`
	// Weights are the shares of tenants that wait; 1 for those not named.
	Weights map[string]int `yaml:"weights"`
	// Keys is how many tenants are told apart at a time; 100,000 when 0. Those
	// beyond share one place.
	Keys int `yaml:"keys"`
}

func (t *Tenant) withDefaults() *Tenant {
	if t == nil {
		return nil
	}
	full := *t
	fill(&full.From, "address")
	fill(&full.Keys, 100_000)
	return &full
}

// Priority tells requests apart by importance (F29).
type Priority struct {
	// From says what names a request's level, "header:X-Priority"; empty means
	// that only the route's level counts. It is believed from trusted peers.
	From string `yaml:"from"`
	// Levels are the levels, the most important first; critical, default and
	// bulk when empty.
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

// headerName returns the header that a source such as "header:X-Api-Key" names.
func headerName(source string) (string, error) {
	name, ok := strings.CutPrefix(source, "header:")
	switch {
	case !ok:
		return "", errors.New("does not say where to look")
	case !isToken(name):
		return "", fmt.Errorf("%.60q is not the name of a header", name)
	}
	return name, nil
}
