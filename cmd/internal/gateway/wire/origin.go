package wire

import (
	"net/http"
	"net/netip"
	"strings"

	"github.com/kalan-go/kalan/internal/travel"
)

// A Trust is the networks whose word about others is believed.
type Trust []netip.Prefix

func (t Trust) holds(addr netip.Addr) bool {
	for _, network := range t {
		if network.Contains(addr) {
			return true
		}
	}
	return false
}

// A Peer is the other end of a client's connection. It is made once for each
// connection and shared by its requests.
type Peer struct {
	// Trusted says that the peer's word about others is believed.
	Trusted bool
	// Addr is its address; the zero Addr when it cannot be read.
	Addr    netip.Addr
	address []string // for X-Forwarded-For
}

// Peer returns what is known of a remote address as net.Conn writes it. An
// address that cannot be read, such as a Unix socket's, is nobody's.
func (t Trust) Peer(remote string) *Peer {
	endpoint, err := netip.ParseAddrPort(remote)
	if err != nil {
		return &Peer{address: []string{"unknown"}} // RFC 7239, 6.2
	}
	addr := endpoint.Addr().Unmap().WithZone("")
	return &Peer{Trusted: t.holds(addr), Addr: addr, address: []string{addr.String()}}
}

var (
	plain    = []string{"http"}
	secure   = []string{"https"}
	noAgent  = []string{""} // net/http would write its own name
	trailers = []string{"trailers"}
	via      = []string{"1.1 kalan"}
)

// Request copies to dst the headers of a request that concern the upstream,
// and writes who asks.
func (p *Peer) Request(dst http.Header, r *http.Request) {
	for name, values := range r.Header {
		if !endsHere(name) && (p.Trusted || !claimsOrigin(name)) {
			dst[name] = values
		}
	}
	dropNominated(dst, r.Header["Connection"])
	eachToken(r.Header["Te"], func(token string) {
		if strings.EqualFold(token, "trailers") {
			dst["Te"] = trailers
		}
	})
	if _, given := dst["User-Agent"]; !given {
		dst["User-Agent"] = noAgent
	}
	dst["Via"] = append(dst["Via"][:len(dst["Via"]):len(dst["Via"])], via...)
	p.writeOrigin(dst, r)
}

// claimsOrigin reports whether a header says something about the caller that
// only a trusted peer may say. Whoever reads headers as variables, as CGI and
// what came after it do, takes an underscore for a dash.
func claimsOrigin(name string) bool {
	if strings.Contains(name, "_") {
		name = http.CanonicalHeaderKey(strings.ReplaceAll(name, "_", "-"))
	}
	switch name {
	case "Forwarded", "X-Real-Ip", travel.RetryOwner,
		"True-Client-Ip", "Cf-Connecting-Ip", "Fastly-Client-Ip", "X-Client-Ip", "X-Cluster-Client-Ip", "X-Original-Forwarded-For":
		return true
	}
	return strings.HasPrefix(name, "X-Forwarded-")
}

func (p *Peer) writeOrigin(dst http.Header, r *http.Request) {
	if before := dst["X-Forwarded-For"]; len(before) > 0 {
		dst["X-Forwarded-For"] = []string{strings.Join(before, ", ") + ", " + p.address[0]}
	} else {
		dst["X-Forwarded-For"] = p.address
	}
	if len(dst["X-Forwarded-Host"]) == 0 && r.Host != "" { // HTTP/1.0 may name none
		dst["X-Forwarded-Host"] = []string{r.Host}
	}
	if len(dst["X-Forwarded-Proto"]) == 0 {
		dst["X-Forwarded-Proto"] = plain
		if r.TLS != nil {
			dst["X-Forwarded-Proto"] = secure
		}
	}
}
