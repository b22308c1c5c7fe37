package gateway

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/kalan-go/kalan/cmd/internal/certs/mint"
	"github.com/kalan-go/kalan/internal/settings"
)

// Each client's certificate has a rate of its own, also where its session goes
// on, and names nobody who was not verified.
func TestTenantsByCertificate(t *testing.T) {
	file := fileFor(backend(t, answers("ok")))
	file.TLS = &settings.TLS{Clients: "theirs"}
	file.Tenant = &settings.Tenant{From: "certificate", Rate: .001, Burst: 3}
	s := seal(t, file)
	id, _ := url.Parse("spiffe://example/b")
	for name, c := range map[string]*http.Client{
		"a name": s.as(s.clients.Pair(t, "a", nil)),
		"a URI":  s.as(s.clients.Pair(t, "a", func(c *x509.Certificate) { c.URIs = []*url.URL{id} })),
		"nobody": s.as(),
	} {
		for i, want := range []int{200, 200, 200, 429, 429} {
			if status, err := s.ask(t, c); status != want {
				t.Errorf("%s, the %d.: %d %v", name, i+1, status, err)
			}
		}
	}
	// Another certificate of the same name is the same tenant.
	if status, err := s.ask(t, s.as(s.clients.Pair(t, "a", nil))); status != 429 {
		t.Errorf("a with another certificate: %d %v", status, err)
	}
	strangers := mint.New(t, "strangers")
	if status, err := s.ask(t, s.as(strangers.Pair(t, "c", nil))); status != 0 {
		t.Errorf("one of an unknown authority: %d %v", status, err)
	}
	s.counts(t, `kalan_handshakes_total{end="certificate"} 1`, `kalan_handshakes_total{end="resumed"} 12`, `kalan_tenants 3`)
}

func TestACertificateIsRequired(t *testing.T) {
	file := fileFor(backend(t, answers("ok")))
	file.TLS = &settings.TLS{Clients: "theirs", Require: true}
	s := seal(t, file)
	expired := s.clients.Pair(t, "a", func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Minute) })
	server := s.clients.Pair(t, "a", func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth} })
	for name, c := range map[string]*http.Client{
		"none": s.as(), "an expired one": s.as(expired), "one that is for servers": s.as(server), "the listener's": s.as(s.authority.Pair(t, "a", nil)),
	} {
		if status, err := s.ask(t, c); status != 0 {
			t.Errorf("%s: %d %v", name, status, err)
		}
	}
	if status, err := s.ask(t, s.as(s.clients.Pair(t, "a", nil))); status != 200 {
		t.Errorf("a good one: %d %v", status, err)
	}
	s.counts(t, `kalan_handshakes_total{end="certificate"} 4`, `kalan_handshakes_total{end="complete"} 1`)
}

// What is no handshake is told apart, and whoever forgot the s is told.
func TestWhatIsNoHandshake(t *testing.T) {
	s := seal(t, fileFor(backend(t, answers("ok"))))
	if got, err := s.raw(t, "GET / HTTP/1.1\r\nHost: a\r\n\r\n"); !strings.HasPrefix(got, "HTTP/1.1 400 ") || !strings.Contains(got, "https") {
		t.Errorf("in the clear: %q %v", got, err)
	}
	if got, _ := s.raw(t, "hello\r\n"); strings.Contains(got, "HTTP") {
		t.Errorf("nonsense: %q", got)
	}
	stranger := &tls.Config{ServerName: "127.0.0.1", RootCAs: mint.New(t, "another").Pool()}
	c := &http.Client{Transport: &http.Transport{TLSClientConfig: stranger, DisableKeepAlives: true}}
	if _, err := s.ask(t, c); err == nil {
		t.Error("a client that does not know the authority is content")
	}
	c.Transport.(*http.Transport).TLSClientConfig = s.trusts()
	c.Transport.(*http.Transport).TLSClientConfig.MaxVersion = tls.VersionTLS11
	c.Transport.(*http.Transport).TLSClientConfig.MinVersion = tls.VersionTLS10
	if _, err := s.ask(t, c); err == nil {
		t.Error("TLS 1.1 is spoken")
	}
	if c, err := net.Dial("tcp", s.Addr().String()); err == nil {
		c.Close()
	}
	until(t, "all are counted", func() bool { return s.secrecy.ended[failure].Load() == 3 && s.secrecy.ended[left].Load() == 1 })
	s.counts(t, `kalan_handshakes_total{end="plain"} 1`, `kalan_handshakes_total{end="complete"} 0`, `kalan_handshakes_awaited 0`)
}

// New files are in use for new connections, and what is on old ones goes on.
func TestCertificatesAreRenewed(t *testing.T) {
	s := seal(t, fileFor(backend(t, answers("ok"))))
	shown := func() string {
		t.Helper()
		c, err := s.dial(t)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		return c.ConnectionState().PeerCertificates[0].Subject.CommonName
	}
	s.do(t, "GET", "/", "")
	if name := shown(); name != "first" {
		t.Errorf("shown %s", name)
	}
	certificate, key := s.authority.Issue(t, "second", nil)
	mint.Write(t, s.dir, "a.crt", certificate)
	s.secrecy.look()
	if name := shown(); name != "first" || !strings.Contains(s.log.String(), "the old ones stay in use") {
		t.Errorf("half of the files: shown %s", name)
	}
	mint.Write(t, s.dir, "a.key", key)
	s.secrecy.look()
	if name := shown(); name != "second" || !strings.Contains(s.log.String(), "new certificate") {
		t.Errorf("shown %s", name)
	}
	before := s.gate.Snapshot().Accepted
	if a := s.do(t, "GET", "/", ""); a.StatusCode != 200 || s.gate.Snapshot().Accepted != before {
		t.Errorf("on the old connection: %d", a.StatusCode)
	}
	text := s.counts(t, `kalan_certificate_changes_total{files="good"} 1`, `kalan_certificate_changes_total{files="bad"} 1`)
	_, seconds, _ := strings.Cut(text, "\nkalan_certificate_left_seconds ")
	var left float64
	fmt.Sscan(seconds, &left)
	if left < 23*3600 || left > 24*3600 {
		t.Errorf("it expires in %v s", left)
	}
}

// The gateway looks for itself, as long as it runs.
func TestTheFilesAreReadAgain(t *testing.T) {
	s, file := certify(t, fileFor("http://127.0.0.1:1"))
	log := &journal{}
	g, err := New(file, logTo(log))
	if err != nil {
		t.Fatal(err)
	}
	if g.secrecy.every != time.Minute {
		t.Errorf("every %v", g.secrecy.every)
	}
	g.secrecy.every = time.Millisecond
	ctx, leave := context.WithCancel(t.Context())
	status := make(chan int, 1)
	go func() { status <- g.run(ctx, nil) }()
	certificate, key := s.authority.Issue(t, "second", nil)
	mint.Write(t, s.dir, "a.crt", certificate)
	mint.Write(t, s.dir, "a.key", key)
	until(t, "they are taken over", func() bool { return strings.Contains(log.String(), "new certificate") })
	leave()
	if got := receive(t, "it leaves", status); got != 0 {
		t.Errorf("status %d", got)
	}
}

func TestNothingIsServedWithoutItsCertificate(t *testing.T) {
	_, file := certify(t, fileFor("http://127.0.0.1:1"))
	file.TLS.Key = file.TLS.Certificate
	if _, err := New(file, logTo(&journal{})); err == nil || !strings.Contains(err.Error(), "tls.key: ") {
		t.Errorf("%v", err)
	}
}
