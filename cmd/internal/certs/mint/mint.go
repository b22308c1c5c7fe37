// Package mint makes certificates for tests, so that none has to lie in the
// repository and expire there. Nothing else uses it.
package mint

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// An Authority signs certificates.
type Authority struct {
	// PEM is its own certificate.
	PEM  []byte
	self *x509.Certificate
	key  *ecdsa.PrivateKey
}

// New returns an authority of that name, valid for a day.
func New(t testing.TB, name string) *Authority {
	t.Helper()
	a := &Authority{}
	a.self = frame(t, name)
	a.self.IsCA, a.self.BasicConstraintsValid, a.self.KeyUsage = true, true, x509.KeyUsageCertSign
	a.PEM, a.key = sign(t, a.self, a.self, nil)
	return a
}

// Pool holds the authority alone.
func (a *Authority) Pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(a.PEM)
	return pool
}

// Issue signs a certificate for 127.0.0.1 and for clients, valid for a day,
// after change, if any, has changed it. It returns it and its key in PEM.
func (a *Authority) Issue(t testing.TB, name string, change func(*x509.Certificate)) (certificate, key []byte) {
	t.Helper()
	c := frame(t, name)
	c.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
	c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	if change != nil {
		change(c)
	}
	certificate, pair := sign(t, c, a.self, a.key)
	der, err := x509.MarshalPKCS8PrivateKey(pair)
	if err != nil {
		t.Fatal(err)
	}
	return certificate, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}

// Pair is Issue for those who want to use it.
func (a *Authority) Pair(t testing.TB, name string, change func(*x509.Certificate)) tls.Certificate {
	t.Helper()
	pair, err := tls.X509KeyPair(a.Issue(t, name, change))
	if err != nil {
		t.Fatal(err)
	}
	return pair
}

// Write writes a file and returns its name.
func Write(t testing.TB, dir, name string, content []byte) string {
	t.Helper()
	file := filepath.Join(dir, name)
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func frame(t testing.TB, name string) *x509.Certificate {
	t.Helper()
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: name},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(24 * time.Hour),
	}
}

// sign makes a key for c and signs it, by itself when there is no key to sign
// with.
func sign(t testing.TB, c, by *x509.Certificate, with *ecdsa.PrivateKey) ([]byte, *ecdsa.PrivateKey) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if with == nil {
		with = key
	}
	der, err := x509.CreateCertificate(rand.Reader, c, by, &key.PublicKey, with)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), key
}
