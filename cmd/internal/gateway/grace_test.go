package gateway

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// Clients who send slowly, or do not read, are not the upstream's fault: twenty
// of them would open its breaker for everybody, and what they take would be what
// it is expected to take.
func TestSlowClientsBlameNobody(t *testing.T) {
	if testing.Short() {
		t.Skip("six seconds of real time: left out of -short")
	}
	const pause = 2 * time.Second // past the slow threshold, within the exchange
	file := patientFile(backend(t, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		if r.Method == http.MethodGet {
			w.Write(make([]byte, 8<<20)) // more than all buffers on the way hold
		}
	}), time.Minute)
	file.Upstreams[0].Exchange = 3 * time.Second
	file.Routes[0].Promise = time.Minute
	tarry := func() {
		began := time.Now()
		until(t, "the client has tarried", func() bool { return time.Since(began) > pause })
	}
	for name, exchange := range map[string]func(net.Conn) error{
		"a sender": func(c net.Conn) error {
			io.WriteString(c, "PUT / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n")
			tarry()
			_, err := io.WriteString(c, "0\r\n\r\n")
			return err
		},
		"a reader": func(c net.Conn) error {
			io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
			tarry()
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := open(t, file)
			c, err := net.Dial("tcp", h.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			c.(*net.TCPConn).SetReadBuffer(4 << 10)
			if err := exchange(c); err != nil {
				t.Fatal(err)
			}
			if a, err := http.ReadResponse(bufio.NewReader(c), nil); err != nil || a.StatusCode != 200 {
				t.Errorf("%v, %v", a, err)
			} else {
				io.Copy(io.Discard, a.Body)
			}
			guard := h.upstreams[0].guard
			until(t, "its slot comes free", func() bool { return guard.Snapshot().InFlight == 0 })
			if s := guard.Snapshot(); s.Breaker.Calls > 0 || s.Mean != 0 {
				t.Errorf("mean %v, %+v", s.Mean, s.Breaker)
			}
		})
	}
	h := open(t, file)
	for range 5 {
		h.do(t, "PUT", "/", strings.Repeat("a", 200<<10))
	}
	if s := h.upstreams[0].guard.Snapshot(); s.Breaker.Calls == 0 {
		t.Error("clients who do not tarry are not heard of either")
	}
}
