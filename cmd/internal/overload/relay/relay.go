// Package relay is the least that a gateway in Go can be: net/http's server, its
// transport, and a copy between them. It decides nothing, limits nothing and
// outlives no caller. In the light case of `make bench-overload` it stands beside
// the gateways, so that what Kalan adds to a request can be told from what
// net/http adds to it, on the machine and in the minute of the measurement.
//
// When not to use it: under more load than the upstream can serve. Whatever
// protects nothing collapses, and that is known.
package relay

import (
	"context"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"
)

// mostIdle is how many connections to the upstream are kept, as Kalan keeps
// them.
const mostIdle = 1024

// Serve relays what arrives at address to upstream, a host with its port, until
// ctx ends.
func Serve(ctx context.Context, address, upstream string) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	return serve(ctx, listener, upstream)
}

func serve(ctx context.Context, listener net.Listener, upstream string) error {
	transport := &http.Transport{MaxIdleConnsPerHost: mostIdle, DisableCompression: true}
	defer transport.CloseIdleConnections()
	server := &http.Server{Handler: relay{transport, upstream}, ReadHeaderTimeout: 10 * time.Second}
	stop := context.AfterFunc(ctx, func() { server.Close() })
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

type relay struct {
	transport *http.Transport
	upstream  string
}

var buffers = sync.Pool{New: func() any { return new([32 << 10]byte) }}

// ServeHTTP passes a request on, and its answer back.
func (h relay) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	out := new(http.Request).WithContext(r.Context())
	out.Method, out.Host, out.Header = r.Method, r.Host, r.Header
	out.URL = &url.URL{Scheme: "http", Host: h.upstream, Path: r.URL.Path, RawQuery: r.URL.RawQuery}
	out.Body, out.ContentLength = r.Body, r.ContentLength
	answer, err := h.transport.RoundTrip(out)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	defer answer.Body.Close()
	maps.Copy(w.Header(), answer.Header)
	w.WriteHeader(answer.StatusCode)
	buffer := buffers.Get().(*[32 << 10]byte)
	defer buffers.Put(buffer)
	// Neither end is asked whether it can copy by itself: Kalan's are not either.
	if _, err := io.CopyBuffer(struct{ io.Writer }{w}, struct{ io.Reader }{answer.Body}, buffer[:]); err != nil {
		panic(http.ErrAbortHandler)
	}
}
