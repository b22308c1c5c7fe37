package certs

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kalan-go/kalan/cmd/internal/certs/mint"
	"github.com/kalan-go/kalan/internal/settings"
)

// A shelf is a directory with a good certificate and key, to be spoilt.
type shelf struct {
	settings.TLS
	dir       string
	authority *mint.Authority
}

func stock(t *testing.T) *shelf {
	s := &shelf{dir: t.TempDir(), authority: mint.New(t, "authority")}
	s.Certificate, s.Key = filepath.Join(s.dir, "a.crt"), filepath.Join(s.dir, "a.key")
	s.put(t, "a", nil)
	return s
}

// put writes another certificate and its key.
func (s *shelf) put(t *testing.T, name string, change func(*x509.Certificate)) {
	t.Helper()
	certificate, key := s.authority.Issue(t, name, change)
	mint.Write(t, s.dir, "a.crt", certificate)
	mint.Write(t, s.dir, "a.key", key)
}

func TestEverythingThatIsWrongIsSaidAtOnce(t *testing.T) {
	const begin, end = "-----BEGIN ENCRYPTED PRIVATE KEY-----\n", "-----END ENCRYPTED PRIVATE KEY-----\n"
	for name, c := range map[string]struct {
		spoil func(*testing.T, *shelf)
		want  []string // beginning of the path, and a part of the text
	}{
		"nothing": {func(*testing.T, *shelf) {}, nil},
		"no files": {func(t *testing.T, s *shelf) {
			os.Remove(s.Certificate)
			os.Remove(s.Key)
			s.Clients = filepath.Join(s.dir, "none")
		}, []string{"tls.certificate: is not there; names", "tls.key: is not there; names", "tls.clients: is not there; names"}},
		"a directory": {func(t *testing.T, s *shelf) { s.Key = s.dir }, []string{"tls.key: is no file"}},
		"too large": {func(t *testing.T, s *shelf) { mint.Write(t, s.dir, "a.crt", make([]byte, most+1)) },
			[]string{"tls.certificate: has 4194305 bytes"}},
		"exchanged": {func(t *testing.T, s *shelf) { s.Certificate, s.Key = s.Key, s.Certificate },
			[]string{"tls.certificate: has no certificate in it", "tls.key: has no private key in it"}},
		"no PEM": {func(t *testing.T, s *shelf) { mint.Write(t, s.dir, "a.crt", []byte("hello")) },
			[]string{"tls.certificate: has no certificate in it"}},
		"a broken certificate": {func(t *testing.T, s *shelf) {
			mint.Write(t, s.dir, "a.crt", []byte("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"))
		}, []string{"tls.certificate: has a certificate that cannot be read, the 1."}},
		"another's key": {func(t *testing.T, s *shelf) {
			_, key := s.authority.Issue(t, "b", nil)
			mint.Write(t, s.dir, "a.key", key)
		}, []string{"tls.key: does not fit: private key does not match"}},
		"an encrypted key": {func(t *testing.T, s *shelf) { mint.Write(t, s.dir, "a.key", []byte(begin+"AAAA\n"+end)) },
			[]string{"tls.key: is encrypted"}},
		"an expired one": {func(t *testing.T, s *shelf) {
			s.put(t, "a", func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Minute) })
		}, []string{"tls.certificate: warning: it has expired, on 20"}},
		"one of the future": {func(t *testing.T, s *shelf) {
			s.put(t, "a", func(c *x509.Certificate) { c.NotBefore = time.Now().Add(time.Hour) })
		}, []string{"tls.certificate: warning: it is not valid before 20"}},
		"one without names": {func(t *testing.T, s *shelf) {
			s.put(t, "a", func(c *x509.Certificate) { c.IPAddresses = nil })
		}, []string{"tls.certificate: warning: it names no host"}},
		"no authorities": {func(t *testing.T, s *shelf) { s.Clients = s.Key }, []string{"tls.clients: has no certificate in it"}},
		"both in one file": {func(t *testing.T, s *shelf) {
			certificate, key := s.authority.Issue(t, "a", nil)
			s.Certificate = mint.Write(t, s.dir, "both.pem", append(key, certificate...))
			s.Key = s.Certificate
		}, nil},
		"what is not written": {func(t *testing.T, s *shelf) { s.TLS = settings.TLS{} }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := stock(t)
			c.spoil(t, s)
			found := Check(settings.File{TLS: &s.TLS})
			if len(found) != len(c.want) {
				t.Fatalf("found %v", found)
			}
			for i, p := range found {
				path, text, _ := strings.Cut(c.want[i], ": ")
				text, warning := strings.CutPrefix(text, "warning: ")
				if p.Path != path || p.Warning != warning || !strings.Contains(p.Text, text) {
					t.Errorf("got %+v, want %s", p, c.want[i])
				}
			}
			k, err := Open(s.TLS, nil)
			if works := err == nil && k.Config() != nil; works != (s.Key != "" && found.Err() == nil) {
				t.Errorf("opening gave %v", err)
			}
		})
	}
	if Check(settings.File{}) != nil {
		t.Error("a file without TLS has problems with it")
	}
}

// pipe is two ends of a connection. net.Pipe would not do: it has no room for
// what both write at once.
func pipe() (near, far net.Conn, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	defer l.Close()
	if near, err = net.Dial("tcp", l.Addr().String()); err != nil {
		return nil, nil, err
	}
	far, err = l.Accept()
	return near, far, err
}

// shown shakes hands and returns the name on the certificate that a client is
// shown, whether it was a session of before, and how the client saw it end.
func shown(k *Keeper, c *tls.Config) (name string, resumed bool, err error) {
	near, far, err := pipe()
	if err != nil {
		return "", false, err
	}
	var served sync.WaitGroup
	defer served.Wait()
	defer near.Close()
	served.Go(func() {
		server := tls.Server(far, k.Config())
		if server.Handshake() == nil {
			server.Write([]byte("x")) // and the tickets before it
		}
		far.Close()
	})
	client := tls.Client(near, c)
	if _, err := client.Read(make([]byte, 1)); err != nil {
		return "", false, err
	}
	state := client.ConnectionState()
	return state.PeerCertificates[0].Subject.CommonName, state.DidResume, nil
}

func TestANewCertificateIsShown(t *testing.T) {
	s := stock(t)
	k, err := Open(s.TLS, nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &tls.Config{RootCAs: s.authority.Pool(), ServerName: "127.0.0.1"}
	show := func(want string) {
		t.Helper()
		if name, _, err := shown(k, client); name != want || err != nil {
			t.Errorf("shown %q, %v; want %q", name, err, want)
		}
	}
	show("a")
	look := func(renewed bool, wrong string) {
		t.Helper()
		got, err := k.Look()
		if got != renewed || (err == nil) != (wrong == "") || err != nil && !strings.Contains(err.Error(), wrong) {
			t.Errorf("looking gave %v, %v; want %v, %s", got, err, renewed, wrong)
		}
	}
	look(false, "")
	good, _ := os.ReadFile(s.Certificate)

	// A new certificate, whose key comes a moment later.
	certificate, key := s.authority.Issue(t, "b", nil)
	mint.Write(t, s.dir, "a.crt", certificate)
	look(false, "does not fit")
	look(false, "") // said once
	show("a")
	mint.Write(t, s.dir, "a.crt", good) // put back
	look(false, "")
	mint.Write(t, s.dir, "a.crt", certificate)
	mint.Write(t, s.dir, "a.key", key)
	look(true, "")
	show("b")

	os.Remove(s.Key)
	look(false, "is not there")
	show("b")
	s.put(t, "expired", func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Minute) })
	look(false, "is not valid now, and the old one is")
	show("b")
	s.put(t, "c", nil)
	look(true, "")
	show("c")
	if k.Renewed() != 2 || k.Wrong() != 3 || time.Until(k.Expires()) < 23*time.Hour {
		t.Errorf("renewed %d, wrong %d, expires %v", k.Renewed(), k.Wrong(), k.Expires())
	}
	// Where the old one is no better, the new one is taken.
	k.now = func() time.Time { return time.Now().Add(48 * time.Hour) }
	s.put(t, "d", nil)
	look(true, "")
	show("d")
}

// A client whose authority has been taken off the list is not let in on the
// strength of a session of before.
func TestNoSessionOutlivesItsAuthority(t *testing.T) {
	s := stock(t)
	old, other := mint.New(t, "old"), mint.New(t, "other")
	s.Clients, s.Require = mint.Write(t, s.dir, "clients.crt", old.PEM), true
	k, err := Open(s.TLS, nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &tls.Config{
		RootCAs: s.authority.Pool(), ServerName: "127.0.0.1", ClientSessionCache: tls.NewLRUClientSessionCache(1),
		Certificates: []tls.Certificate{old.Pair(t, "client", nil)},
	}
	for i, resumed := range []bool{false, true} {
		if _, got, err := shown(k, client); got != resumed || err != nil {
			t.Errorf("the %d. time: resumed %v, %v", i+1, got, err)
		}
	}
	mint.Write(t, s.dir, "clients.crt", bytes.Join([][]byte{old.PEM, other.PEM}, nil))
	if renewed, err := k.Look(); !renewed || err != nil {
		t.Fatal(renewed, err)
	}
	if _, resumed, err := shown(k, client); resumed || err != nil {
		t.Errorf("after a change: resumed %v, %v", resumed, err)
	}
	mint.Write(t, s.dir, "clients.crt", other.PEM)
	if renewed, err := k.Look(); !renewed || err != nil {
		t.Fatal(renewed, err)
	}
	if _, _, err := shown(k, client); err == nil {
		t.Error("it is let in")
	}
}

func TestWhatIsSpoken(t *testing.T) {
	s := stock(t)
	asked := false
	k, err := Open(s.TLS, func(c *tls.Config) { asked = c.ClientAuth != tls.NoClientCert })
	if err != nil || asked {
		t.Fatal(err, asked)
	}
	client := func(change func(*tls.Config)) error {
		c := &tls.Config{RootCAs: s.authority.Pool(), ServerName: "127.0.0.1"}
		change(c)
		_, _, err := shown(k, c)
		return err
	}
	for name, c := range map[string]struct {
		change func(*tls.Config)
		ok     bool
	}{
		"TLS 1.3":  {func(c *tls.Config) { c.MinVersion = tls.VersionTLS13 }, true},
		"TLS 1.2":  {func(c *tls.Config) { c.MaxVersion = tls.VersionTLS12 }, true},
		"TLS 1.1":  {func(c *tls.Config) { c.MinVersion, c.MaxVersion = tls.VersionTLS10, tls.VersionTLS11 }, false},
		"HTTP/1.1": {func(c *tls.Config) { c.NextProtos = []string{"h2", "http/1.1"} }, true},
		"HTTP/2":   {func(c *tls.Config) { c.NextProtos = []string{"h2"} }, false},
	} {
		if err := client(c.change); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}
