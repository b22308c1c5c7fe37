// Package certs reads the certificate that a listener shows and the authorities
// whose clients it believes, and reads them again while it runs.
//
// Two use it: the reader of the configuration, which says everything that is
// wrong with the files before anything is started (Check), and the gateway,
// which serves with them (Keeper).
//
// Files that have changed are taken over when all of them are good together.
// Whoever renews a certificate replaces two files one after the other, and in
// between they do not fit; a Keeper then goes on with what it has, and looks
// again later. What it takes over begins anew: no session of before is resumed,
// so that a client whose authority is gone has to show its certificate again.
package certs

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"time"

	"github.com/kalan-go/kalan/internal/settings"
	"github.com/kalan-go/kalan/policy"
)

// Check returns everything that is wrong with the files that a configuration
// names, each with the path of its key. It needs no key that is written rightly:
// what is not written is left to File.Validate.
func Check(f settings.File) policy.Problems {
	if f.TLS == nil {
		return nil
	}
	_, found := read(*f.TLS).parse(*f.TLS, time.Now())
	return found
}

// A material is what a listener serves with.
type material struct {
	certificate tls.Certificate
	clients     *x509.CertPool // nil: nobody is asked
}

// good reports whether the certificate is valid at an instant.
func (m *material) good(at time.Time) bool {
	leaf := m.certificate.Leaf
	return !at.Before(leaf.NotBefore) && !at.After(leaf.NotAfter)
}

// texts are the files as they were read, and what went wrong.
type texts struct {
	certificate, key, clients text
}

type text struct {
	content []byte
	fault   string // "" for none
}

func read(files settings.TLS) texts {
	return texts{readFile(files.Certificate), readFile(files.Key), readFile(files.Clients)}
}

// sum tells one state of the files from another, and keeps nothing of a key.
func (t texts) sum() (sum [sha256.Size]byte) {
	h := sha256.New()
	for _, one := range []text{t.certificate, t.key, t.clients} {
		part := sha256.Sum256(one.content)
		h.Write(part[:])
		h.Write([]byte(one.fault + "\n"))
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// parse makes of the files what a listener serves with: nil when there is more
// than warnings.
func (t texts) parse(files settings.TLS, now time.Time) (*material, policy.Problems) {
	p := parser{now: now}
	m := &material{}
	chain := p.chain("tls.certificate", files.Certificate, t.certificate)
	key := p.key("tls.key", files.Key, t.key)
	if chain != nil && key != nil {
		m.certificate = p.pair("tls.key", files.Certificate, t.certificate.content, key)
	}
	if len(chain) > 0 {
		p.judge("tls.certificate", chain[0])
	}
	if files.Clients != "" {
		m.clients = p.authorities("tls.clients", files.Clients, t.clients)
	}
	if p.found.Err() != nil || chain == nil || key == nil {
		return nil, p.found
	}
	m.certificate.Leaf = chain[0]
	return m, p.found
}
