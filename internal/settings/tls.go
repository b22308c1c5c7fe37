package settings

import (
	"path/filepath"

	"github.com/kalan-go/kalan/internal/field"
)

// TLS has the listener speak TLS 1.2 or newer, with the files of its
// certificate. Names of files that are not absolute begin where the
// configuration file is. The files are read again once a minute, and taken over
// when they have changed and are good.
type TLS struct {
	// Certificate is the PEM file of the certificate that callers are shown, and
	// after it those of the authorities between it and one that they know.
	Certificate string `yaml:"certificate"`
	// Key is the PEM file of the certificate's private key. It may be the same
	// file.
	Key string `yaml:"key"`
	// Clients is a PEM file of authorities. Callers are asked for a certificate,
	// and whoever shows one that none of these has signed is not let in. Empty
	// means that nobody is asked.
	Clients string `yaml:"clients"`
	// Require lets in only callers that show a certificate.
	Require bool `yaml:"require"`
}

// Below returns t with the names of its files beginning in a directory.
func (t *TLS) Below(directory string) *TLS {
	if t == nil {
		return nil
	}
	moved := *t
	for _, name := range []*string{&moved.Certificate, &moved.Key, &moved.Clients} {
		if *name != "" && !filepath.IsAbs(*name) {
			*name = filepath.Join(directory, filepath.FromSlash(*name))
		}
	}
	return &moved
}

func (t *TLS) check(c *field.Check) {
	if t == nil {
		return
	}
	if t.Certificate == "" {
		c.Refuse("tls.certificate", "is missing; write the PEM file of the certificate that callers are shown, or remove the tls block")
	}
	if t.Key == "" {
		c.Refuse("tls.key", "is missing; write the PEM file of the certificate's private key, or remove the tls block")
	}
	if t.Require && t.Clients == "" {
		c.Refuse("tls.require", "nobody's certificate would do; write the PEM file of the authorities that sign them under tls.clients, or remove the key")
	}
}
