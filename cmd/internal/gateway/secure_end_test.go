package gateway

import (
	"bufio"
	"context"
	"errors"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kalan-go/kalan/internal/settings"
)

// Under TLS an orderly end is said, and a reset where none may be seen (O-33).
func TestTheEndOfAnAnswerUnderTLS(t *testing.T) {
	s := seal(t, fileFor(backend(t, answers("whole"))))
	if got, err := s.say(t, "GET / HTTP/1.0\r\n\r\n"); err != nil || !strings.HasSuffix(got, "whole") {
		t.Errorf("a whole one: %q %v", got, err)
	}
	s = seal(t, fileFor(backend(t, broken("Transfer-Encoding: chunked\r\n\r\n5\r\nchunk\r\n"))))
	if _, err := s.say(t, "GET / HTTP/1.0\r\n\r\n"); !errors.Is(err, syscall.ECONNRESET) && !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a broken one ended with %v", err)
	}
}

// A hesitant listener has connections whose readers take at most so many bytes
// at a time, with a pause after them, and once, after so many in all, nothing of
// a record for too long.
type hesitant struct {
	net.Listener
	piece, most int
}

func (h hesitant) Accept() (net.Conn, error) {
	c, err := h.Listener.Accept()
	return &taking{Conn: c, hesitant: h}, err
}

type taking struct {
	net.Conn
	hesitant
	taken int
	rest  bool // of a record
}

func (c *taking) Write(p []byte) (int, error) {
	if c.taken > c.most && !c.rest {
		c.most = math.MaxInt
		return 0, os.ErrDeadlineExceeded
	}
	n, err := c.Conn.Write(p[:min(len(p), c.piece)])
	c.taken, c.rest = c.taken+n, n < len(p)
	if err == nil && c.rest {
		err = os.ErrDeadlineExceeded
	}
	return n, err
}

func (c *taking) Close() error   { return c.Conn.Close() }
func (c *taking) Addr() net.Addr { return c.Conn.LocalAddr() }

// hesitate serves size bytes to readers that hesitate, and returns what one of
// them got and how it ended.
func hesitate(t *testing.T, size, most int) (int, error) {
	t.Helper()
	s, file := certify(t, patientFile(backend(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", strconv.Itoa(size))
		w.Write(make([]byte, size))
	}), 2*time.Second))
	g, err := New(file, logTo(&journal{}))
	if err != nil {
		t.Fatal(err)
	}
	g.public = hesitant{g.public, 1000, most}
	s.house = &house{Gateway: g}
	ctx, leave := context.WithCancel(t.Context())
	ended := make(chan int, 1)
	go func() { ended <- g.run(ctx, nil) }()
	got, err := s.say(t, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
	leave()
	receive(t, "it leaves", ended)
	_, body, _ := strings.Cut(got, "\r\n\r\n")
	return len(body), err
}

// A reader that is slow, but reads, is served: a write of TLS that has run into
// a deadline could not be gone on with.
func TestASlowReaderUnderTLS(t *testing.T) {
	const size = 600 << 10
	if got, err := hesitate(t, size, math.MaxInt); got != size || err != nil {
		t.Errorf("%d of %d bytes, %v", got, size, err)
	}
}

// One that takes nothing of a record sees the end of its connection there. The
// last words of TLS have the next number, and would look like a forgery.
func TestARecordThatIsLostIsFollowedByNothing(t *testing.T) {
	const size = 600 << 10
	if got, err := hesitate(t, size, 100_000); got == 0 || got == size || err != nil && !silent(err) {
		t.Errorf("%d of %d bytes, and it ended with %v", got, size, err)
	}
}

// F11: one that takes nothing is closed, and one that stops sending is told.
func TestWhoStallsUnderTLS(t *testing.T) {
	s := seal(t, patientFile(backend(t, endless), 300*time.Millisecond))
	c, err := s.dial(t)
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	if _, err := io.ReadFull(c, make([]byte, 12)); err != nil {
		t.Fatal(err)
	}
	until(t, "its connection is closed", func() bool { return s.gate.Snapshot().Open == 0 })
	until(t, "its slot comes free", func() bool { return s.upstreams[0].guard.Snapshot().InFlight == 0 })
	if got, err := s.say(t, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nabc"); !strings.Contains(got, " 408 ") {
		t.Errorf("%q %v", got, err)
	}
}

// F6 with TLS: what is in flight is finished, the idle and those who have said
// half a hello are closed, and all of it counts as well done.
func TestLeavingUnderTLS(t *testing.T) {
	arrived, finish := make(chan struct{}), make(chan struct{})
	file := fileFor(backend(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			close(arrived)
			<-finish
		}
		io.WriteString(w, "done")
	}))
	file.Routes[0].Promise, file.Upstreams[0].Exchange = patience, patience
	file.Accept = &settings.Accept{Handshakes: settings.Handshakes{Within: 2 * time.Second}}
	file.Drain.Finish = 20 * time.Second
	s := seal(t, file)
	idle, err := s.dial(t)
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(idle, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	reader := bufio.NewReader(idle)
	first, err := http.ReadResponse(reader, nil)
	if err != nil || read(t, first) != "done" {
		t.Fatal(err)
	}
	half, err := net.Dial("tcp", s.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer half.Close()
	half.Write([]byte{22, 3, 1})
	answer := make(chan answered, 1)
	go func() { answer <- s.do(t, "GET", "/slow", "") }()
	receive(t, "the request", arrived)
	s.signals <- syscall.SIGTERM
	if _, err := reader.ReadByte(); err != io.EOF {
		t.Errorf("the idle one ended with %v", err)
	}
	close(finish)
	if a := receive(t, "the answer", answer); a.body != "done" || !a.Close {
		t.Errorf("%q, the connection ends: %v", a.body, a.Close)
	}
	if status := receive(t, "it leaves", s.status); status != 0 {
		t.Errorf("status %d", status)
	}
}

// Work that is cut does not end as if it were whole, in the clear as little as
// under TLS.
func TestWorkThatIsCutDoesNotLookWhole(t *testing.T) {
	for name, block := range map[string]*settings.TLS{"in the clear": nil, "under TLS": {}} {
		t.Run(name, func(t *testing.T) {
			arrived, finish := make(chan struct{}), make(chan struct{})
			file := fileFor(backend(t, func(w http.ResponseWriter, r *http.Request) {
				w.Write([]byte("begun"))
				w.(http.Flusher).Flush()
				close(arrived)
				<-finish
			}))
			file.Drain.Finish = 50 * time.Millisecond
			file.Upstreams[0].Exchange, file.Routes[0].Promise = time.Minute, time.Minute
			var h *house
			var say func(testing.TB, string) (string, error)
			if block == nil {
				h = open(t, file)
				say = h.raw
			} else {
				s := seal(t, file)
				h, say = s.house, s.say
			}
			ended := make(chan error, 1)
			go func() {
				_, err := say(t, "GET / HTTP/1.0\r\n\r\n")
				ended <- err
			}()
			receive(t, "the request", arrived)
			h.signals <- syscall.SIGTERM
			if err := receive(t, "its end", ended); !errors.Is(err, syscall.ECONNRESET) {
				t.Errorf("it ended with %v", err)
			}
			close(finish)
			if status := receive(t, "it leaves", h.status); status != 1 {
				t.Errorf("status %d", status)
			}
		})
	}
}
