package certs

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/kalan-go/kalan/policy"
)

// most is how many bytes of one file are read: more than the authorities of a
// whole browser.
const most = 4 << 20

// readFile reads one file. Pipes and directories are not waited for.
func readFile(name string) (t text) {
	if name == "" {
		return text{}
	}
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return text{fault: "is not there; names that are not absolute begin where the configuration file is"}
	case err != nil:
		return text{fault: plain(err)}
	case !info.Mode().IsRegular():
		return text{fault: "is no file; write the name of a PEM file"}
	case info.Size() > most:
		return text{fault: fmt.Sprintf("has %d bytes, and no file of certificates has more than %d; write the name of a PEM file", info.Size(), most)}
	}
	f, err := os.Open(name)
	if err != nil {
		return text{fault: plain(err)}
	}
	defer f.Close()
	if t.content, err = io.ReadAll(io.LimitReader(f, most)); err != nil {
		return text{fault: plain(err)}
	}
	return t
}

// plain is an error of the file system without the name, which stands before it.
func plain(err error) string {
	var at *fs.PathError
	if errors.As(err, &at) {
		err = at.Err
	}
	return "cannot be read: " + err.Error() + "; let the gateway's user read it"
}

// A parser collects what is wrong.
type parser struct {
	now   time.Time
	found policy.Problems
}

func (p *parser) refuse(path, name, format string, args ...any) {
	p.found = append(p.found, policy.Problem{Path: path, Text: fmt.Sprintf("%.200q ", name) + fmt.Sprintf(format, args...)})
}

func (p *parser) warn(path, format string, args ...any) {
	p.found = append(p.found, policy.Problem{Path: path, Text: fmt.Sprintf(format, args...), Warning: true})
}

// blocks returns what a file consists of; nothing when it could not be read,
// which is a problem, or is not named, which is none of ours. there is whether
// it could.
func (p *parser) blocks(path, name string, t text) (all []*pem.Block, there bool) {
	if t.fault != "" {
		p.refuse(path, name, "%s", t.fault)
	}
	if name == "" || t.fault != "" {
		return nil, false
	}
	for rest := t.content; ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			return all, true
		}
		all = append(all, block)
	}
}

// chain returns the certificates of a file, nil when something is wrong.
func (p *parser) chain(path, name string, t text) (all []*x509.Certificate) {
	blocks, there := p.blocks(path, name, t)
	for _, block := range blocks {
		if block.Type != "CERTIFICATE" {
			continue
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			p.refuse(path, name, "has a certificate that cannot be read, the %d.: %v; write the certificate in PEM", len(all)+1, err)
			return nil
		}
		all = append(all, c)
	}
	if there && len(all) == 0 {
		p.refuse(path, name, `has no certificate in it; write a PEM file, with "BEGIN CERTIFICATE"`)
	}
	return all
}

// key returns the content of a file that has a private key in it.
func (p *parser) key(path, name string, t text) []byte {
	blocks, there := p.blocks(path, name, t)
	for _, block := range blocks {
		switch {
		case strings.HasPrefix(block.Type, "ENCRYPTED") || strings.Contains(block.Headers["Proc-Type"], "ENCRYPTED"):
			p.refuse(path, name, "is encrypted, and nobody is there to type the password; decrypt it with openssl pkey, and let only the gateway's user read it")
			return nil
		case strings.HasSuffix(block.Type, "PRIVATE KEY"):
			return t.content
		}
	}
	if there {
		p.refuse(path, name, `has no private key in it; write a PEM file, with "BEGIN PRIVATE KEY"`)
	}
	return nil
}

// pair puts a certificate and its key together. Whatever does not fit is put
// down to the key, since the certificate has been read.
func (p *parser) pair(path, certificate string, chain, key []byte) tls.Certificate {
	pair, err := tls.X509KeyPair(chain, key)
	if err != nil {
		p.found = append(p.found, policy.Problem{Path: path, Text: fmt.Sprintf(
			"does not fit: %s; write the private key with which %.200q was made", strings.TrimPrefix(err.Error(), "tls: "), certificate)})
	}
	return pair
}

// judge says what callers will not like of a certificate.
func (p *parser) judge(path string, c *x509.Certificate) {
	const day = "2006-01-02 15:04 MST"
	switch {
	case p.now.After(c.NotAfter):
		p.warn(path, "it has expired, on %s; callers will not trust it: renew it", c.NotAfter.UTC().Format(day))
	case p.now.Before(c.NotBefore):
		p.warn(path, "it is not valid before %s; callers will not trust it until then", c.NotBefore.UTC().Format(day))
	}
	if len(c.DNSNames)+len(c.IPAddresses)+len(c.URIs) == 0 {
		p.warn(path, "it names no host (no subject alternative name); callers that look for one will not trust it")
	}
}

// authorities returns those of a file.
func (p *parser) authorities(path, name string, t text) *x509.CertPool {
	pool := x509.NewCertPool()
	for _, c := range p.chain(path, name, t) {
		if p.now.After(c.NotAfter) {
			p.warn(path, "%.80q has expired; nobody whom it has signed will be let in", c.Subject.CommonName)
		}
		pool.AddCert(c)
	}
	return pool
}
