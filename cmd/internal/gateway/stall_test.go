package gateway

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/kalan-go/kalan/internal/settings"
)

// patientFile is a configuration in which nothing but a stall ends a request.
func patientFile(address string, stall time.Duration) settings.File {
	file := fileFor(address)
	file.Accept = &settings.Accept{Stall: stall, Buffer: 16 << 10}
	file.Routes[0].Promise, file.Deadline.Default = -1, -1
	file.Upstreams[0].Exchange = time.Minute
	return file
}

// endless is an upstream that streams until its caller leaves.
func endless(w http.ResponseWriter, _ *http.Request) {
	chunk := []byte(strings.Repeat("x", 32<<10))
	for {
		if _, err := w.Write(chunk); err != nil {
			return
		}
	}
}

// F11: a reader that takes nothing holds no slot for long, whatever is promised.
func TestAReaderThatStallsIsClosed(t *testing.T) {
	h := open(t, patientFile(backend(t, endless), 300*time.Millisecond))
	c, err := net.Dial("tcp", h.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	head := make([]byte, 12)
	if _, err := io.ReadFull(c, head); err != nil || string(head[9:]) != "200" {
		t.Fatalf("%q %v", head, err)
	}
	until(t, "its slot comes free", h.idle)
	until(t, "it is closed", func() bool { return h.gate.Snapshot().Open == 0 })
}

// One that does not take the informational answers either is not waited for longer
// than its time: whoever waits for them holds up the answer.
func TestInformationDoesNotHoldUpTheDeadline(t *testing.T) {
	file := patientFile(backend(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Link", strings.Repeat("a", 2000))
		for range 30 {
			w.WriteHeader(http.StatusEarlyHints)
		}
	}), time.Hour)
	file.Accept.Buffer = 4 << 10
	file.Routes[0].Promise = 300 * time.Millisecond
	h := open(t, file)
	c, err := net.Dial("tcp", h.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.(*net.TCPConn).SetReadBuffer(4 << 10)
	io.WriteString(c, strings.Repeat("GET / HTTP/1.1\r\nHost: x\r\n\r\n", 50))
	until(t, "its connection is closed", func() bool { return h.gate.Snapshot().Accepted == 1 && h.gate.Snapshot().Open == 0 })
}

// One that reads slowly, but reads, is none of those.
func TestASlowReaderIsServed(t *testing.T) {
	if testing.Short() {
		t.Skip("four seconds of real time: left out of -short")
	}
	t.Parallel()
	const stall, size = 2 * time.Second, 3000 << 10 // 150 pieces: one and a half times as long as a pause may be
	h := open(t, patientFile(backend(t, func(w http.ResponseWriter, _ *http.Request) { w.Write(make([]byte, size)) }), stall))
	c, err := net.Dial("tcp", h.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.(*net.TCPConn).SetReadBuffer(128 << 10)
	io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
	a, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	readSlowly(t, a.Body, size)
}

// readSlowly reads a body of that size, a piece after each pause.
func readSlowly(t *testing.T, body io.Reader, size int) {
	t.Helper()
	pause := time.NewTicker(20 * time.Millisecond)
	defer pause.Stop()
	read, piece := 0, make([]byte, 20<<10)
	var err error
	for err == nil {
		var n int
		n, err = body.Read(piece)
		read += n
		<-pause.C
	}
	if read != size || err != io.EOF {
		t.Errorf("%d of %d bytes, %v", read, size, err)
	}
}

// A sender that stops is told so, before its request has a slot and after.
func TestASenderThatStallsIsClosed(t *testing.T) {
	h := open(t, patientFile(backend(t, func(w http.ResponseWriter, r *http.Request) { io.Copy(io.Discard, r.Body) }), 300*time.Millisecond))
	for name, request := range map[string]string{
		"a small body": "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nabc",
		"a large body": "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\nabc",
		"chunks":       "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
	} {
		if answer, err := h.raw(t, request); !strings.Contains(answer, " 408 ") || !strings.Contains(answer, "Connection: close") {
			t.Errorf("%s: %q %v", name, answer, err)
		}
	}
	until(t, "their slots come free", func() bool { return h.upstreams[0].guard.Snapshot().InFlight == 0 })
}

// A sender that is slow, but sends, is served.
func TestASlowSenderIsServed(t *testing.T) {
	if testing.Short() {
		t.Skip("three seconds of real time: left out of -short")
	}
	t.Parallel()
	h := open(t, patientFile(backend(t, func(w http.ResponseWriter, r *http.Request) { io.Copy(w, r.Body) }), 2*time.Second))
	body, feed := io.Pipe()
	go func() {
		tick := time.NewTicker(250 * time.Millisecond)
		defer tick.Stop()
		for range 12 { // one and a half times as long as a pause may be
			<-tick.C
			io.WriteString(feed, "abc")
		}
		feed.Close()
	}()
	r, err := http.NewRequest("POST", h.url("/"), body)
	if err != nil {
		t.Fatal(err)
	}
	if a := h.send(t, r); a.StatusCode != 200 || len(a.body) != 36 {
		t.Errorf("%d %q", a.StatusCode, a.body)
	}
}
