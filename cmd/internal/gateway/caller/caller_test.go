package caller

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/kalan-go/kalan/cmd/internal/gateway/wire"
	"github.com/kalan-go/kalan/internal/settings"
)

var trust = wire.Trust{netip.MustParsePrefix("10.0.0.0/8")}

func tellerFor(tenant *settings.Tenant, priority *settings.Priority) *Teller {
	return New(settings.File{Tenant: tenant, Priority: priority}.WithDefaults(), trust)
}

// asked is a request with headers written "Name: value".
func asked(lines ...string) *http.Request {
	r := &http.Request{Header: make(http.Header)}
	for _, line := range lines {
		name, value, _ := strings.Cut(line, ": ")
		r.Header.Add(name, value)
	}
	return r
}

var (
	trusted  = trust.Peer("10.0.0.1:1")
	stranger = trust.Peer("9.9.9.9:1")
	other    = trust.Peer("9.9.9.8:1")
)

// A header is believed from trusted peers; strangers are where they come from,
// whatever they write.
func TestTenantOfAHeader(t *testing.T) {
	teller := tellerFor(&settings.Tenant{From: "header:x-tenant", Weights: map[string]int{"gold": 4}}, nil)
	of := func(p *wire.Peer, lines ...string) Tenant {
		t.Helper()
		tenant, err := teller.Tenant(p, asked(lines...))
		if err != nil {
			t.Fatal(err)
		}
		return tenant
	}
	gold := of(trusted, "X-Tenant: gold")
	if gold.Weight != 4 || gold != of(trusted, "X-Tenant: gold") || gold == of(trusted, "X-Tenant: silver") || gold.Flow() == 0 {
		t.Errorf("gold is %+v", gold)
	}
	if nobody := of(trusted); nobody != (Tenant{}) || nobody != of(trusted, "X-Tenant: ") {
		t.Errorf("nobody is %+v", nobody)
	}
	if here := of(stranger, "X-Tenant: gold"); here == gold || here != of(stranger, "X-Tenant: a", "X-Tenant: b") || here == of(other) {
		t.Errorf("a stranger is %+v", here)
	}
	long := strings.Repeat("x", 300)
	if a := of(trusted, "X-Tenant: "+long); a == (Tenant{}) || a == of(trusted, "X-Tenant: "+long+"y") {
		t.Errorf("a long name is %+v", a)
	}
}

func TestTenantOfAKey(t *testing.T) {
	teller := tellerFor(&settings.Tenant{From: "key:X-Api-Key"}, nil)
	a, _ := teller.Tenant(stranger, asked("X-Api-Key: a"))
	b, _ := teller.Tenant(stranger, asked("X-Api-Key: b"))
	nonsense, err := teller.Tenant(stranger, asked("X-Api-Key: a", "X-Api-Key: b"))
	if a == b || a == (Tenant{}) || nonsense != (Tenant{}) || err != nil {
		t.Errorf("%+v %+v %+v %v", a, b, nonsense, err)
	}
	if elsewhere, _ := teller.Tenant(other, asked("X-Api-Key: a")); elsewhere != a {
		t.Error("the same key from elsewhere is another tenant")
	}
}

func TestTenantOfACertificate(t *testing.T) {
	teller := tellerFor(&settings.Tenant{From: "certificate"}, nil)
	verified := func(c x509.Certificate) *http.Request {
		r := asked()
		r.TLS = &tls.ConnectionState{PeerCertificates: []*x509.Certificate{&c}, VerifiedChains: [][]*x509.Certificate{{&c}}}
		return r
	}
	id, _ := url.Parse("spiffe://example/a")
	a, _ := teller.Tenant(stranger, verified(x509.Certificate{Subject: pkix.Name{CommonName: "a"}}))
	b, _ := teller.Tenant(stranger, verified(x509.Certificate{Subject: pkix.Name{CommonName: "a"}, URIs: []*url.URL{id}}))
	unverified := verified(x509.Certificate{Subject: pkix.Name{CommonName: "a"}})
	unverified.TLS.VerifiedChains = nil
	c, _ := teller.Tenant(stranger, unverified)
	plain, _ := teller.Tenant(stranger, asked())
	if a == b || a == (Tenant{}) || b == (Tenant{}) || c != (Tenant{}) || plain != (Tenant{}) {
		t.Errorf("%+v %+v %+v %+v", a, b, c, plain)
	}
}

// O-37 and O-24: behind a proxy by what the proxy says, and IPv6 by the /64.
func TestTenantOfAnAddress(t *testing.T) {
	teller := tellerFor(&settings.Tenant{}, nil)
	of := func(p *wire.Peer, lines ...string) uint64 {
		tenant, _ := teller.Tenant(p, asked(lines...))
		return tenant.Key
	}
	first := of(trusted, "X-Forwarded-For: 1.1.1.1, 7.7.7.7")
	for i := range 100 {
		if of(trusted, fmt.Sprintf("X-Forwarded-For: 1.1.1.%d, 7.7.7.7", i)) != first {
			t.Fatal("the left part chooses the bucket")
		}
	}
	if of(trusted) == first || of(stranger, "X-Forwarded-For: 7.7.7.7") == first {
		t.Error("somebody else has the caller's bucket")
	}
	block := of(trusted, "X-Forwarded-For: 2001:db8::1")
	for i := range 1000 {
		if of(trusted, fmt.Sprintf("X-Forwarded-For: 2001:db8::%x", i+2)) != block {
			t.Fatal("addresses of one /64 do not share a bucket")
		}
	}
	if of(trusted, "X-Forwarded-For: 2001:db8:0:1::1") == block {
		t.Error("two /64 share a bucket")
	}
}

func TestWithoutABlockAllAreOne(t *testing.T) {
	teller := tellerFor(nil, nil)
	tenant, err := teller.Tenant(stranger, asked("X-Tenant: a"))
	level, bad := teller.Level(trusted, asked("X-Priority: bulk"), 1)
	if tenant != (Tenant{}) || err != nil || level != 1 || bad != nil {
		t.Errorf("%+v %v, level %d %v", tenant, err, level, bad)
	}
}

// Nonsense from a trusted peer is an error; a stranger's word is no word.
func TestNonsense(t *testing.T) {
	teller := tellerFor(&settings.Tenant{From: "header:X-Tenant"}, &settings.Priority{From: "header:X-Priority"})
	for _, lines := range [][]string{
		{"X-Tenant: a", "X-Tenant: b"}, {"X-Tenant: a\tb"}, {"X-Tenant: caf\xc3\xa9"},
		{"X-Priority: urgent"}, {"X-Priority: bulk", "X-Priority: bulk"}, {"X-Priority: Critical"},
	} {
		ask := func(p *wire.Peer) error {
			_, err := teller.Tenant(p, asked(lines...))
			if err == nil {
				_, err = teller.Level(p, asked(lines...), 1)
			}
			return err
		}
		if err := ask(trusted); err == nil || !strings.Contains(err.Error(), "send") {
			t.Errorf("%q from a trusted peer: %v", lines, err)
		}
		if err := ask(stranger); err != nil {
			t.Errorf("%q from a stranger: %v", lines, err)
		}
	}
}

func TestLevels(t *testing.T) {
	teller := tellerFor(nil, &settings.Priority{From: "header:X-Priority"})
	for _, c := range []struct {
		peer *wire.Peer
		word string
		want uint8
	}{
		{trusted, "critical", 0}, {trusted, "default", 1}, {trusted, "bulk", 2}, {trusted, "", 1}, {stranger, "critical", 1},
	} {
		if got, err := teller.Level(c.peer, asked("X-Priority: "+c.word), 1); got != c.want || err != nil {
			t.Errorf("%q is %d, %v; want %d", c.word, got, err, c.want)
		}
	}
}

func TestTellingAllocatesNothing(t *testing.T) {
	teller := tellerFor(&settings.Tenant{From: "header:X-Tenant"}, &settings.Priority{From: "header:X-Priority"})
	r := asked("X-Tenant: somebody", "X-Priority: bulk")
	if n := testing.AllocsPerRun(100, func() {
		teller.Tenant(trusted, r)
		teller.Level(trusted, r, 1)
		teller.Address(stranger, r)
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
