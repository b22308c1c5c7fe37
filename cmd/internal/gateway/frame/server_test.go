package frame

import (
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

// A line brings a text to a server and shows it to a scanner, as the gateway's
// connections do. Nobody reads what is answered.
type line struct {
	net.Conn
	text    io.Reader
	scanner Scanner
}

func (l *line) Read(p []byte) (int, error) {
	n, err := l.text.Read(p)
	l.scanner.See(p[:n])
	return n, err
}

func (l *line) Write(p []byte) (int, error) { return len(p), nil }

// once accepts one connection, and ends when that is closed.
type once struct {
	line   *line
	closed chan struct{}
	given  bool
}

func (o *once) Accept() (net.Conn, error) {
	if o.given {
		<-o.closed
		return nil, io.EOF
	}
	o.given = true
	return o.line, nil
}

func (o *once) Close() error   { return nil }
func (o *once) Addr() net.Addr { return o.line.LocalAddr() }

// passed returns the paths of those requests of a text that net/http serves and
// that the scanner lets through.
func passed(text io.Reader) (paths []string) {
	ours, theirs := net.Pipe()
	defer theirs.Close()
	o := &once{line: &line{Conn: ours, text: text}, closed: make(chan struct{})}
	served := uint64(0)
	s := http.Server{
		DisableGeneralOptionsHandler: true, // as the gateway does: it would not be counted
		ErrorLog:                     log.New(io.Discard, "", 0),
		ConnState: func(_ net.Conn, state http.ConnState) {
			if state == http.StateClosed {
				close(o.closed)
			}
		},
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			served++
			if bad := o.line.scanner.Bad(); bad == 0 || served < bad {
				paths = append(paths, r.URL.Path)
			}
			io.Copy(io.Discard, r.Body)
		}),
	}
	s.Serve(o)
	return paths
}

// TestNothingBadPassesAServer puts bad requests behind whatever else a real
// server accepts, refuses or passes over.
func TestNothingBadPassesAServer(t *testing.T) {
	evil := []string{
		"POST /evil HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"POST /evil HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"GET /evil HTTP/1.1\r\nHost: a\r\ntransfer-encoding: Chunked\r\nX: y\r\ncontent-length: 0\r\n\r\n0\r\n\r\n",
	}
	odd := []string{
		"\r", "\n", "\r\n", "\r\n\r\n", " ", "\t", "\x00", "0\r\n\r\n", "0\r\nA: b\r\n\r\r\n", ":", "A: b\r\n", " c\r\n", "\r\r\n",
		"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 7\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: a\r\nContent-Length:\r\n\r\n", "2;a=\"\r\nhe\r\n", "2 \r\nhe\r\n", "02\r\nhe\r\n", "2\nhe\n", "+2\r\nhe\r\n",
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nX: a\r\n \r\n\r\n",
	}
	honest := []string{get, counted5, chunked5, strings.ReplaceAll(counted5, "\r\n", "\n"), strings.ReplaceAll(get, "\r\n", "\n")}
	part := rapid.OneOf(rapid.SampledFrom(honest), rapid.SampledFrom(honest), rapid.SampledFrom(odd), rapid.SampledFrom(evil))
	rapid.Check(t, func(rt *rapid.T) {
		parts := rapid.SliceOfN(part, 0, 6).Draw(rt, "text")
		text := strings.Join(append(parts, rapid.SampledFrom(evil).Draw(rt, "at the end")), "")
		var from io.Reader = strings.NewReader(text)
		if rapid.Bool().Draw(rt, "in single bytes") {
			from = iotest.OneByteReader(from)
		}
		for _, path := range passed(from) {
			if path == "/evil" {
				rt.Fatalf("%q: a request with two framings is let through", text)
			}
		}
	})
}
