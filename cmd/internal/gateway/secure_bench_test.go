package gateway

import (
	"bytes"
	"crypto/tls"
	"net"
	"testing"
	"time"

	"github.com/kalan-go/kalan/cmd/internal/gateway/accept"
	"github.com/kalan-go/kalan/internal/settings"
)

// A recording says what a client has said once, and hears nothing.
type recording struct {
	net.Conn // none: nothing else is asked of it
	said     *bytes.Reader
}

func (r recording) Read(p []byte) (int, error)  { return r.said.Read(p) }
func (r recording) Write(p []byte) (int, error) { return len(p), nil }
func (r recording) Close() error                { return nil }

func (r recording) SetWriteDeadline(time.Time) error { return nil }

// hello returns what a client says first.
func hello(b testing.TB) []byte {
	b.Helper()
	near, far := net.Pipe()
	client := tls.Client(near, &tls.Config{ServerName: "127.0.0.1"})
	done := make(chan struct{})
	go func() {
		defer close(done)
		client.Handshake()
	}()
	said := make([]byte, 16<<10)
	n, err := far.Read(said)
	if err != nil {
		b.Fatal(err)
	}
	far.Close()
	<-done
	return said[:n]
}

// hears returns a connection on which the client has said that.
func (s *sealed) hears(said []byte) *secret {
	below := &pace{Conn: recording{said: bytes.NewReader(said)}, stall: patience}
	return s.secrecy.over(&conn{Conn: below, below: below, left: func() {}, cut: &s.cut})
}

// A handshake that ends in a panic gives its place back.
func TestAPanicInAHandshakeKeepsNoPlace(t *testing.T) {
	s := seal(t, fileFor("http://127.0.0.1:1"))
	said := hello(t)
	s.secrecy.keeper.Config().GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) { panic("broken") }
	s.secrecy.keeper.Config().Certificates = nil
	func() {
		defer func() {
			if recover() == nil {
				t.Error("nothing was broken")
			}
		}()
		s.hears(said).shake()
	}()
	if begun, running := s.secrecy.handshakes.Begun(), s.secrecy.handshakes.Running(); begun != 1 || running != 0 {
		t.Errorf("%d have begun, %d are running", begun, running)
	}
}

// BenchmarkAHello is what a hello costs the gateway: when it is refused, and
// when it is answered and the client says no more. The certificate is ECDSA's,
// which is cheaper to sign with than RSA's.
func BenchmarkAHello(b *testing.B) {
	for name, rate := range map[string]float64{"refused": 1e-6, "answered": 0} {
		b.Run(name, func(b *testing.B) {
			file := fileFor("http://127.0.0.1:1")
			file.Accept = &settings.Accept{Handshakes: settings.Handshakes{Rate: rate, Burst: 1}}
			s := seal(b, file)
			said := hello(b)
			place, _, _ := s.secrecy.handshakes.Begin(0, nil)
			place.End()
			for b.Loop() {
				if s.hears(said).shake() {
					b.Fatal("shaken")
				}
			}
			if refused := s.secrecy.handshakes.Refused(accept.Rate) > 0; refused != (rate > 0) {
				b.Errorf("refused: %v", refused)
			}
		})
	}
}
