package config

import (
	"crypto/x509"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kalan-go/kalan/cmd/internal/certs"
	"github.com/kalan-go/kalan/cmd/internal/certs/mint"
)

// What is wrong with the files is said with the place of their key, together
// with everything else; names begin where the configuration is.
func TestFilesOfTLSHaveAPlace(t *testing.T) {
	dir := t.TempDir()
	certificate, key := mint.New(t, "authority").Issue(t, "a", func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Hour) })
	mint.Write(t, dir, "a.crt", certificate)
	mint.Write(t, dir, "a.key", key)
	read := func(block string, checks ...Check) string {
		t.Helper()
		file, warnings, err := Load(mint.Write(t, dir, "kalan.yaml", []byte(smallest+block)), checks...)
		said := warnings.Error()
		if err != nil {
			said = err.Error()
		} else if file.TLS.Certificate != filepath.Join(dir, "a.crt") || file.TLS.Key != filepath.Join(dir, "a.key") {
			t.Errorf("the files are %+v", file.TLS)
		}
		return strings.ReplaceAll(said, dir+"/", "")
	}
	if got := read("tls: {certificate: a.crt, key: a.key}\n", certs.Check); !strings.HasPrefix(got, "kalan.yaml:5:20: warning: tls.certificate: it has expired") || strings.Contains(got, "\n") {
		t.Errorf("an expired one gave\n%s", got)
	}
	want := `kalan.yaml:5:20: tls.certificate: "none.crt" is not there; names that are not absolute begin where the configuration file is
kalan.yaml:5:35: tls.key: "a.crt" has no private key in it; write a PEM file, with "BEGIN PRIVATE KEY"
kalan.yaml:5:51: tls.clients: "a.key" has no certificate in it; write a PEM file, with "BEGIN CERTIFICATE"
kalan.yaml:5:58: tls.requier: unknown key; did you mean "require"?
kalan.yaml:6:1: wokers: unknown key; did you mean "workers"?`
	if got := read("tls: {certificate: none.crt, key: a.crt, clients: a.key, requier: true}\nwokers: 3\n", certs.Check); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	want = "kalan.yaml:5:1: tls.key: is missing; write the PEM file of the certificate's private key, or remove the tls block"
	if got := read("tls: {certificate: a.crt}\n", certs.Check); !strings.HasPrefix(got, want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	// Whoever does not serve needs no files.
	if got := read("tls: {certificate: a.crt, key: a.key, clients: none.crt}\n"); got != "" {
		t.Errorf("without the check\n%s", got)
	}
}
