package gateway

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/policy/limit"
)

// upstreamOf answers 1 KiB, as the comparison of peers does.
func upstreamOf(t testing.TB) string {
	text := strings.Repeat("x", 1024)
	return backend(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Content-Type"] = []string{"text/plain"}
		io.WriteString(w, text)
	})
}

// ask sends requests to an address on one connection for each goroutine.
func ask(b *testing.B, address string) {
	defer debug.SetGCPercent(debug.SetGCPercent(lazily))
	b.ReportAllocs()
	b.SetParallelism(16)
	before := spent()
	defer func() { b.ReportMetric(float64(spent()-before)/float64(b.N), "cpu-ns/op") }()
	b.RunParallel(func(pb *testing.PB) {
		c, err := net.Dial("tcp", address)
		if err != nil {
			b.Error(err)
			return
		}
		defer c.Close()
		buffer := make([]byte, 4096)
		for pb.Next() {
			io.WriteString(c, "GET /prices/eur HTTP/1.1\r\nHost: a\r\nUser-Agent: bench\r\nAccept: */*\r\nX-Remaining-Ms: 5000\r\n\r\n")
			for n := 0; n < 1024; { // the head comes with it; one read mostly
				m, err := c.Read(buffer)
				if err != nil {
					b.Error(err)
					return
				}
				n += m
			}
		}
	})
}

// spent is the processor time of this process: on a busy machine it says more
// than the clock.
func spent() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkForward is a request through the gateway, client and upstream
// included: compare with the two others.
func BenchmarkForward(b *testing.B) {
	file := fileFor(upstreamOf(b))
	file.Upstreams[0].Limit = limit.Fixed(100) // nobody waits
	h := open(b, file)
	h.verbose = false
	ask(b, h.Addr().String())
}

// BenchmarkReverseProxy is httputil's, with a transport as ours.
func BenchmarkReverseProxy(b *testing.B) {
	target, _ := url.Parse(upstreamOf(b))
	proxy := httputil.NewSingleHostReverseProxy(target)
	transport := &http.Transport{MaxIdleConnsPerHost: mostIdle, DisableCompression: true}
	defer transport.CloseIdleConnections()
	proxy.Transport = transport
	s := httptest.NewServer(proxy)
	defer s.Close()
	ask(b, strings.TrimPrefix(s.URL, "http://"))
}

// BenchmarkDirect is the client and the upstream alone.
func BenchmarkDirect(b *testing.B) {
	ask(b, strings.TrimPrefix(upstreamOf(b), "http://"))
}

// BenchmarkHold is what the guard costs in each of its modes, without HTTP.
func BenchmarkHold(b *testing.B) {
	for name, leave := range map[string]bool{"inline": false, "flight": true} {
		b.Run(name, func(b *testing.B) {
			guard, err := kalan.New(kalan.Config{Name: "bridge", Config: fileFor("http://127.0.0.1:1").WithDefaults().Upstreams[0].Config})
			if err != nil {
				b.Fatal(err)
			}
			way := kalan.Way[int]{Leave: leave}
			b.ReportAllocs()
			for b.Loop() {
				_, held, err := kalan.Hold(context.Background(), guard, way, func(context.Context) (int, error) { return 1, nil })
				if err != nil {
					b.Fatal(err)
				}
				held.Release(1)
			}
		})
	}
}
