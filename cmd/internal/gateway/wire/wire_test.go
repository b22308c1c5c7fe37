package wire

import (
	"bufio"
	"crypto/tls"
	"maps"
	"net/http"
	"net/netip"
	"reflect"
	"strings"
	"testing"
)

var networks = Trust{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("2001:db8::/32")}

// request reads a request as a server does.
func request(t testing.TB, headers ...string) *http.Request {
	t.Helper()
	text := "GET /x HTTP/1.1\r\nHost: shop.example\r\n" + strings.Join(headers, "\r\n") + "\r\n\r\n"
	r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(strings.ReplaceAll(text, "\r\n\r\n\r\n", "\r\n\r\n"))))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// onward returns what an upstream gets from a peer, without what every request
// gets.
func onward(t testing.TB, remote string, headers ...string) http.Header {
	t.Helper()
	dst := make(http.Header)
	networks.Peer(remote).Request(dst, request(t, headers...))
	for name, value := range map[string]string{"User-Agent": "", "Via": "1.1 kalan", "X-Forwarded-Host": "shop.example", "X-Forwarded-Proto": "http"} {
		if got := dst.Get(name); got == value {
			delete(dst, name)
		}
	}
	return dst
}

// TestConnectionHeadersEndHere is O-29.
func TestConnectionHeadersEndHere(t *testing.T) {
	for name, headers := range map[string][]string{
		"an empty line first":     {"Connection:", "Connection: X-Hop, close", "X-Hop: 1"},
		"mixed case":              {"connection: cLOSE ,\tx-HOP", "x-hop: 1"},
		"spaces and empty parts":  {"Connection: , ,  X-Hop  ,", "X-Hop: 1"},
		"a standard list":         {"Connection: X-Hop", "X-Hop: 1", "Keep-Alive: timeout=5", "TE: gzip, deflate", "Upgrade: websocket", "Transfer-Encoding: chunked"},
		"headers for proxies":     {"Proxy-Connection: keep-alive", "Proxy-Authorization: Basic x", "Proxy-Foo: 1", "Proxy: http://evil.example"},
		"an offer of HTTP/2":      {"Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABk"},
		"names that are no names": {"Connection: \x80, @, X-Hop", "X-Hop: 1"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := onward(t, "192.0.2.1:7", headers...); len(got) != 1 || got.Get("X-Forwarded-For") != "192.0.2.1" {
				t.Errorf("the upstream sees %v", got)
			}
		})
	}
}

func TestResponseHeadersEndHereToo(t *testing.T) {
	src := http.Header{"Connection": {"", "X-Hop, close"}, "X-Hop": {"1"}, "Keep-Alive": {"timeout=5"}, "Proxy-Authenticate": {"Basic"},
		"Transfer-Encoding": {"chunked"}, "Upgrade": {"h2"}, "Etag": {"1"}, "Set-Cookie": {"a=1", "b=2"}}
	dst := make(http.Header)
	Response(dst, src, nil)
	if want := (http.Header{"Etag": {"1"}, "Set-Cookie": {"a=1", "b=2"}}); !reflect.DeepEqual(dst, want) {
		t.Errorf("the client sees %v", dst)
	}
}

func TestNominationsAreReadFromTheBytes(t *testing.T) {
	const answer = "HTTP/1.1 103 Early Hints\r\nConnection: X-Early\r\n\r\nHTTP/1.1 200 OK\r\nConnection:\r\nX-A: connection: x-a\r\ncONNECTION: x-HOP ,\tclose\r\n X-Folded\r\n X-Also\r\n" +
		"Connections: X-Not\r\nContent-Length: 20\r\n\r\nConnection: X-Body\r\n"
	for piece := 1; piece < len(answer); piece++ {
		var n Nominated
		for rest := []byte(answer); len(rest) > 0; rest = rest[min(piece, len(rest)):] {
			n.See(rest[:min(piece, len(rest))])
		}
		dst := http.Header{"X-Hop": {"1"}, "X-Folded": {"1"}, "X-Also": {"1"}, "X-Early": {"1"}, "X-Body": {"1"}, "X-A": {"1"}, "X-Not": {"1"}}
		Response(dst, nil, &n)
		if want := (http.Header{"X-Early": {"1"}, "X-Body": {"1"}, "X-A": {"1"}, "X-Not": {"1"}}); !reflect.DeepEqual(dst, want) {
			t.Fatalf("in pieces of %d: %v, want %v", piece, dst, want)
		}
	}
}

// An upstream may send informational answers as fast as it can, and each may name
// thousands of headers: they are not collected.
func TestNominationsOfEarlyAnswersAreForgotten(t *testing.T) {
	early := []byte("HTTP/1.1 103 Early Hints\r\nConnection: " + strings.Repeat("a,", 1000) + "\r\n\r\n")
	var n Nominated
	for range 1000 {
		n.See(early)
	}
	if len(n.names) != 0 || cap(n.names) > 4000 || cap(n.line) > 4000 {
		t.Errorf("%d names and room for %d, a line of %d", len(n.names), cap(n.names), cap(n.line))
	}
}

func TestEndToEndHeadersPass(t *testing.T) {
	got := onward(t, "192.0.2.1:7", "Accept: a", "Accept: b", "Te: trailers;q=1, TRAILERS", "Authorization: x", "Expect: 100-continue")
	delete(got, "X-Forwarded-For")
	want := http.Header{"Accept": {"a", "b"}, "Te": {"trailers"}, "Authorization": {"x"}, "Expect": {"100-continue"}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the upstream sees %v, want %v", got, want)
	}
}

func TestOriginIsBelievedFromTrustedPeersOnly(t *testing.T) {
	claims := []string{"X-Forwarded-For: 1.1.1.1", "X-Forwarded-For: 2.2.2.2, 7.7.7.7", "X-Forwarded-Host: a.example", "X-Forwarded-Proto: https",
		"X-Forwarded-Port: 1", "Forwarded: for=1.1.1.1", "X-Real-IP: 1.1.1.1", "X-Retry-Owner: edge", "Via: 1.0 other",
		"X_Forwarded_For: 1.1.1.1", "x-forwarded_proto: https", "X_RETRY_OWNER: edge", "True-Client-IP: 1.1.1.1"}
	for remote, want := range map[string]http.Header{
		"9.9.9.9:1":           {"X-Forwarded-For": {"9.9.9.9"}, "Via": {"1.0 other", "1.1 kalan"}},
		"[2001:db9::1]:1":     {"X-Forwarded-For": {"2001:db9::1"}, "Via": {"1.0 other", "1.1 kalan"}},
		"@":                   {"X-Forwarded-For": {"unknown"}, "Via": {"1.0 other", "1.1 kalan"}},
		"10.0.0.1:1":          trusted("10.0.0.1"),
		"[::ffff:10.0.0.1]:1": trusted("10.0.0.1"),
		"[2001:db8::1%a]:1":   trusted("2001:db8::1"),
	} {
		got := onward(t, remote, claims...)
		for name := range want {
			if !reflect.DeepEqual(got[name], want[name]) {
				t.Errorf("from %s, %s: %q, want %q", remote, name, got[name], want[name])
			}
		}
		if len(got) != len(want) {
			t.Errorf("from %s: %v, want %v", remote, got, want)
		}
	}
}

func trusted(address string) http.Header {
	return http.Header{"X-Forwarded-For": {"1.1.1.1, 2.2.2.2, 7.7.7.7, " + address}, "X-Forwarded-Host": {"a.example"}, "X-Forwarded-Proto": {"https"},
		"X-Forwarded-Port": {"1"}, "Forwarded": {"for=1.1.1.1"}, "X-Real-Ip": {"1.1.1.1"}, "X-Retry-Owner": {"edge"}, "Via": {"1.0 other", "1.1 kalan"},
		"X_forwarded_for": {"1.1.1.1"}, "X-Forwarded_proto": {"https"}, "X_retry_owner": {"edge"}, "True-Client-Ip": {"1.1.1.1"}}
}

func TestEncryptedRequestsSaySo(t *testing.T) {
	r, dst := request(t, ""), make(http.Header)
	r.TLS = &tls.ConnectionState{}
	networks.Peer("9.9.9.9:1").Request(dst, r)
	if dst.Get("X-Forwarded-Proto") != "https" {
		t.Errorf("%v", dst)
	}
}

// TestTheRequestIsNotWrittenTo: values are shared, so nothing may be appended
// to a slice of the request's.
func TestTheRequestIsNotWrittenTo(t *testing.T) {
	r := request(t, "Via: 1.0 a", "X-Forwarded-For: 1.1.1.1", "Connection: X-Hop", "X-Hop: 1")
	r.Header["Via"] = append(make([]string, 0, 4), r.Header["Via"]...)
	before := maps.Clone(r.Header)
	networks.Peer("10.0.0.1:1").Request(make(http.Header), r)
	if !reflect.DeepEqual(r.Header, before) || r.Header["Via"][:2][1] != "" {
		t.Errorf("the request became %v", r.Header)
	}
}

func TestTrailers(t *testing.T) {
	dst := make(http.Header)
	Trailers(dst, http.Header{"X-T": {"1"}, "Grpc-Status": {"0"}, "Announced": nil, "Content-Length": {"7"}, "Transfer-Encoding": {"chunked"},
		"X-Forwarded-For": {"1.1.1.1"}, "Host": {"evil"}, "Proxy-Authorization": {"x"}}, http.TrailerPrefix)
	if want := (http.Header{"Trailer:X-T": {"1"}, "Trailer:Grpc-Status": {"0"}}); !reflect.DeepEqual(dst, want) {
		t.Errorf("%v", dst)
	}
}

func TestWantsUpgrade(t *testing.T) {
	for _, c := range []struct {
		want    string
		headers []string
	}{
		{"", []string{"Upgrade: websocket"}},
		{"", []string{"Connection: upgrade"}},
		{"", []string{"Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c"}},
		{"websocket", []string{"Connection: keep-alive, upgrade", "Upgrade: websocket"}},
		{"websocket", []string{"Connection:", "Connection: UPGRADE", "Upgrade: h2c", "Upgrade: websocket"}},
	} {
		protocol, wants := WantsUpgrade(request(t, c.headers...).Header)
		if wants != (c.want != "") || wants && protocol != c.want {
			t.Errorf("%q: %q, %v", c.headers, protocol, wants)
		}
	}
}

func BenchmarkRequest(b *testing.B) {
	peer := networks.Peer("192.0.2.1:7")
	r := request(b, "Accept: */*", "User-Agent: x", "X-Remaining-Ms: 100", "Accept-Encoding: gzip")
	b.ReportAllocs()
	for b.Loop() {
		peer.Request(make(http.Header, 12), r)
	}
}
