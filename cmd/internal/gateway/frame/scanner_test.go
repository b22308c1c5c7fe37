package frame

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// see tells a scanner a text in pieces of the given size.
func see(text string, piece int) uint64 {
	var s Scanner
	for len(text) > 0 {
		n := min(piece, len(text))
		s.See([]byte(text[:n]))
		text = text[n:]
	}
	return s.Bad()
}

const (
	get      = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
	counted5 = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello"
	chunked5 = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3;x=\"y\"\r\nhel\r\n2\r\nlo\r\n0\r\nX-T: 1\r\n\r\n"
	both     = "POST / HTTP/1.1\r\nHost: a\r\ncontent-LENGTH: 50\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
)

// TestBothLengthsAreFound is O-31, wherever on a connection the request comes
// and however its bytes arrive.
func TestBothLengthsAreFound(t *testing.T) {
	long := strings.Repeat("a", 5000)
	for name, c := range map[string]struct {
		text string
		want uint64
	}{
		"honest requests":            {get + counted5 + chunked5 + get + chunked5 + counted5 + get, 0},
		"both":                       {both + get, 1},
		"both, the other way round":  {strings.Replace(strings.Replace(both, "content-LENGTH: 50\r\n", "", 1), "chunked\r\n", "chunked\r\nContent-Length: 50\r\n", 1), 1},
		"both, after others":         {get + counted5 + chunked5 + both, 4},
		"both, with bare line feeds": {strings.ReplaceAll(both, "\r\n", "\n"), 1},
		"inside a body":              {"POST / HTTP/1.1\r\nContent-Length: 83\r\n\r\n" + both + get, 0},
		"chunked in HTTP/1.0":        {"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 1},
		"the same with a long path":  {"POST /" + long + " HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 1},
		"a long path and header":     {"GET /" + long + " HTTP/1.1\r\nCookie: " + long + "\r\n\r\n" + counted5, 0},
		"a folded length":            {"POST / HTTP/1.1\r\nContent-Length:\r\n 5\r\n\r\nhello", 1},
		"a folded coding":            {"POST / HTTP/1.1\r\nTransfer-Encoding:\r\n\tchunked\r\n\r\n", 1},
		"another header folded":      {"GET / HTTP/1.1\r\nX: a\r\n Content-Length: 5\r\n\r\n" + get, 0},
		"a length far out":           {"POST / HTTP/1.1\r\nContent-Length:" + strings.Repeat(" ", 90) + "5\r\n\r\nhello", 1},
		"a length that is none":      {"POST / HTTP/1.1\r\nContent-Length: +5\r\n\r\nhello", 1},
		"after a senseless chunk":    {"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n" + both, 2},
		"after empty lines":          {counted5 + "\n\n" + both, 2},
		"after more of them":         {get + counted5 + "\r\n\r\n" + get + counted5 + "\r\r\n\n" + both, 5},
		"in HTTP/1.0 after one":      {counted5 + "\r\nPOST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 2},
		"after a trailer of its own": {strings.Replace(chunked5, "X-T: 1\r\n", "\n", 1) + both, 2},
	} {
		for _, piece := range []int{1, 2, 3, 7, 64, 100_000} {
			if got := see(c.text, piece); got != c.want {
				t.Errorf("%s, in pieces of %d: request %d is bad, want %d", name, piece, got, c.want)
			}
		}
	}
}

// TestItEndsRequestsWhereTheServerDoes puts a bad request after any others:
// it is found exactly where net/http sees it.
func TestItEndsRequestsWhereTheServerDoes(t *testing.T) {
	part := rapid.SampledFrom([]string{get, counted5, chunked5, strings.ReplaceAll(get, "\r\n", "\n")})
	rapid.Check(t, func(rt *rapid.T) {
		parts := rapid.SliceOfN(part, 0, 8).Draw(rt, "requests")
		text := strings.Join(parts, "") + both + get
		if got := see(text, rapid.IntRange(1, 200).Draw(rt, "piece")); got != uint64(len(parts)+1) {
			rt.Fatalf("request %d is bad, want %d", got, len(parts)+1)
		}
	})
}

// FuzzScanner compares with net/http: a request that net/http serves although
// it carries both, or whose predecessor ended elsewhere, must have been found.
func FuzzScanner(f *testing.F) {
	for _, text := range []string{get + both, counted5 + chunked5 + both, both + get, "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + get} {
		f.Add(text, 7)
	}
	f.Fuzz(func(t *testing.T, text string, piece int) {
		bad := see(text, max(piece, 1))
		in := bufio.NewReaderSize(strings.NewReader(text), len(text)+1)
		for n := uint64(1); bad == 0 || n < bad; n++ {
			rest, _ := in.Peek(len(text))
			r, err := http.ReadRequest(in)
			if err != nil {
				return
			}
			head := strings.ToLower(string(rest[:len(rest)-in.Buffered()]))
			if len(r.TransferEncoding) > 0 && strings.Contains(head, "\ncontent-length:") {
				t.Fatalf("request %d of %q carries both", n, text)
			}
			if _, err := io.Copy(io.Discard, r.Body); err != nil {
				return
			}
		}
	})
}

func BenchmarkSee(b *testing.B) {
	text := []byte("GET /prices/eur HTTP/1.1\r\nHost: shop.example\r\nUser-Agent: x/1.0\r\nAccept: */*\r\nAccept-Encoding: gzip\r\nX-Remaining-Ms: 450\r\n\r\n")
	var s Scanner
	b.ReportAllocs()
	for b.Loop() {
		s.See(text)
	}
}
