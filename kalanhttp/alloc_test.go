package kalanhttp_test

import (
	"io"
	"net/http"
	"testing"

	"github.com/kalan-go/kalan/kalanhttp"
)

// What the adapters add to a request, without a network. http.Transport alone
// allocates about 50 times for one, a server about 10.
const (
	mostSent   = 48
	mostRead   = 55 // with a body that is read at once: no timer but the limit's
	mostServed = 14
)

// still answers at once.
var still = tripper(func(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: http.NoBody, Request: r}, nil
})

func TestAllocationsOfARoundTrip(t *testing.T) {
	client := &kalanhttp.Transport{Guard: guard(t), Base: still}
	r := request(t, "http://bridge.example/")
	if n := testing.AllocsPerRun(500, func() { client.RoundTrip(r) }); n > mostSent {
		t.Errorf("%v allocations a request, at most %d", n, mostSent)
	}
}

// A void is a ResponseWriter that costs nothing.
type void struct{ header http.Header }

func (v void) Header() http.Header         { return v.header }
func (v void) Write(p []byte) (int, error) { return len(p), nil }
func (v void) WriteHeader(int)             {}

func TestAllocationsOfAnAdmission(t *testing.T) {
	h := &kalanhttp.Handler{Guard: admission(t), Next: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(200) })}
	r := request(t, "/")
	r.Header.Set("X-Remaining-Ms", "450")
	w := void{http.Header{}}
	if n := testing.AllocsPerRun(500, func() { h.ServeHTTP(w, r) }); n > mostServed {
		t.Errorf("%v allocations a request, at most %d", n, mostServed)
	}
}

func BenchmarkRoundTrip(b *testing.B) {
	client := &kalanhttp.Transport{Guard: guard(b), Base: still}
	r := request(b, "http://bridge.example/")
	b.ReportAllocs()
	for b.Loop() {
		client.RoundTrip(r)
	}
}

func BenchmarkServe(b *testing.B) {
	h := &kalanhttp.Handler{Guard: admission(b), Next: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(200) })}
	r := request(b, "/")
	w := void{http.Header{}}
	b.ReportAllocs()
	for b.Loop() {
		h.ServeHTTP(w, r)
	}
}

// A short is a body that comes at once.
type short struct{ left int }

func (s *short) Read(p []byte) (int, error) {
	n := min(len(p), s.left)
	if s.left -= n; s.left == 0 {
		return n, io.EOF
	}
	return n, nil
}

func (*short) Close() error { return nil }

// withBody answers at once with a small body.
var withBody = tripper(func(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: &short{2000}, Request: r}, nil
})

func readAtOnce(t testing.TB, client http.RoundTripper, r *http.Request, p []byte) {
	answer, err := client.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = answer.Body.Read(p)
	}
	answer.Body.Close()
}

func TestAllocationsOfABody(t *testing.T) {
	client, r, p := &kalanhttp.Transport{Guard: guard(t), Base: withBody}, request(t, "http://bridge.example/"), make([]byte, 1024)
	if n := testing.AllocsPerRun(500, func() { readAtOnce(t, client, r, p) }); n > mostRead {
		t.Errorf("%v allocations a request, at most %d", n, mostRead)
	}
}

func BenchmarkRoundTripWithBody(b *testing.B) {
	client, r, p := &kalanhttp.Transport{Guard: guard(b), Base: withBody}, request(b, "http://bridge.example/"), make([]byte, 1024)
	b.ReportAllocs()
	for b.Loop() {
		readAtOnce(b, client, r, p)
	}
}
