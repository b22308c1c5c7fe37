// Package caller tells the gateway's callers apart: whose request it is, how
// important, and where it comes from.
//
// Only trusted peers are believed when they say so in a header; what anybody
// else writes there is ignored, sense or nonsense, since it would choose the
// caller's own place in every queue, and is not passed on to who trusts the
// gateway. Nonsense from a trusted peer is an error: something between it and
// here is broken. An API key is a secret and so believed from everyone, and a
// client certificate has been verified.
//
// Callers are 64-bit hashes with a seed of the process, so that no caller can
// choose to share another's place, and a name of any length costs the same.
package caller

import (
	"errors"
	"fmt"
	"hash/maphash"
	"net/http"
	"net/netip"

	"github.com/kalan-go/kalan/cmd/internal/gateway/wire"
	"github.com/kalan-go/kalan/internal/settings"
)

// A Tenant is whose request it is. The zero Tenant is that of all who are not
// told apart, or have no name.
type Tenant struct {
	Key    uint64
	Weight uint8 // its share against others that wait; 0 is 1
}

// Flow is the tenant's number where 32 bits are enough.
func (t Tenant) Flow() uint32 { return uint32(t.Key>>32) ^ uint32(t.Key) }

// A Teller tells callers apart as a configuration says.
type Teller struct {
	trust    wire.Trust
	tell     func(*wire.Peer, *http.Request) (Tenant, error) // nil: all are one
	header   string                                          // of the tenant or its key
	claims   []string                                        // the headers that only trusted peers may send
	weights  map[string]int
	names    maphash.Seed
	places   maphash.Seed
	priority string // header; "": only the route's counts
	levels   map[string]uint8
}

// New returns a teller for a file with its defaults.
func New(file settings.File, trust wire.Trust) *Teller {
	t := &Teller{trust: trust, names: maphash.MakeSeed(), places: maphash.MakeSeed(), levels: make(map[string]uint8)}
	if p := file.Priority; p != nil {
		t.priority = http.CanonicalHeaderKey(p.Header())
		t.claims = append(t.claims, t.priority)
		for i, level := range p.Levels {
			t.levels[level] = uint8(i)
		}
	}
	if file.Tenant == nil {
		return t
	}
	t.weights = file.Tenant.Weights
	kind, name := file.Tenant.Source()
	t.header = http.CanonicalHeaderKey(name)
	switch kind {
	case "header":
		t.tell = t.byHeader
		t.claims = append(t.claims, t.header)
	case "key":
		t.tell = t.byKey
	case "certificate":
		t.tell = t.byCertificate
	default:
		t.tell = t.byAddress
	}
	return t
}

// Tenant returns whose request it is. The error says what is wrong with the
// request.
func (t *Teller) Tenant(p *wire.Peer, r *http.Request) (Tenant, error) {
	if t.tell == nil {
		return Tenant{}, nil
	}
	return t.tell(p, r)
}

// Address returns the number of where the request comes from: its address, or
// the /64 of it.
func (t *Teller) Address(p *wire.Peer, r *http.Request) uint64 {
	return t.Place(t.trust.Client(p, r.Header))
}

// Place returns the number of an address.
func (t *Teller) Place(a netip.Addr) uint64 {
	bytes := wire.Block(a).As16()
	return maphash.Bytes(t.places, bytes[:])
}

// Level returns how important the request is: what a trusted peer says, and
// otherwise the route's own level.
func (t *Teller) Level(p *wire.Peer, r *http.Request, route uint8) (uint8, error) {
	if t.priority == "" || !p.Trusted {
		return route, nil
	}
	word, err := value(r.Header, t.priority)
	if err != nil || word == "" {
		return route, err
	}
	level, known := t.levels[word]
	if !known {
		return route, fmt.Errorf("%s: there is no such level; send one of those under priority.levels", t.priority)
	}
	return level, nil
}

// Strip removes what a peer that is not trusted has no say in. The next gateway
// may trust this one, and would believe what this one has only not read.
func (t *Teller) Strip(p *wire.Peer, h http.Header) {
	if p.Trusted {
		return
	}
	for _, name := range t.claims {
		delete(h, name)
	}
}

// byHeader believes trusted peers. Everybody else's tenant is where it is.
func (t *Teller) byHeader(p *wire.Peer, r *http.Request) (Tenant, error) {
	if !p.Trusted {
		return t.byAddress(p, r)
	}
	name, err := value(r.Header, t.header)
	return t.named(name), err
}

// byKey believes everybody; what is no key is none.
func (t *Teller) byKey(p *wire.Peer, r *http.Request) (Tenant, error) {
	name, err := value(r.Header, t.header)
	if !p.Trusted {
		err = nil
	}
	return t.named(name), err
}

func (t *Teller) byCertificate(_ *wire.Peer, r *http.Request) (Tenant, error) {
	if r.TLS == nil || len(r.TLS.VerifiedChains) == 0 {
		return Tenant{}, nil
	}
	leaf := r.TLS.VerifiedChains[0][0]
	if len(leaf.URIs) > 0 { // a workload's name, such as SPIFFE's
		return t.named(leaf.URIs[0].String()), nil
	}
	return t.named(leaf.Subject.CommonName), nil
}

func (t *Teller) byAddress(p *wire.Peer, r *http.Request) (Tenant, error) {
	return Tenant{Key: t.Address(p, r)}, nil
}

// named returns the tenant of that name. Those without one are one tenant.
func (t *Teller) named(name string) Tenant {
	if name == "" {
		return Tenant{}
	}
	return Tenant{Key: max(maphash.String(t.names, name), 1), Weight: uint8(t.weights[name])}
}

var errTwice = errors.New("is there more than once; send it once")

// value returns the header's one value, "" when there is none that makes
// sense.
func value(h http.Header, name string) (string, error) {
	lines := h[name]
	switch {
	case len(lines) == 0:
		return "", nil
	case len(lines) > 1:
		return "", fmt.Errorf("%s %w", name, errTwice)
	}
	for i := range len(lines[0]) {
		if c := lines[0][i]; c < ' ' || c >= 0x7f {
			return "", fmt.Errorf("%s has bytes that are not plain ASCII; send letters, digits and signs", name)
		}
	}
	return lines[0], nil
}
