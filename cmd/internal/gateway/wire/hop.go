package wire

import (
	"net/http"
	"strings"
)

// endsHere reports whether a header concerns one connection only. The name is
// in canonical form. Proxy without a dash is no header of HTTP, but CGI makes
// HTTP_PROXY of it, which clients behind it obey (CVE-2016-5385).
func endsHere(name string) bool {
	switch name {
	case "Connection", "Keep-Alive", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "Http2-Settings", "Proxy":
		return true
	}
	return strings.HasPrefix(name, "Proxy-")
}

// eachToken calls use with every element of a header that is a list of names,
// over all its lines.
func eachToken(lines []string, use func(token string)) {
	for _, line := range lines {
		for token := range strings.SplitSeq(line, ",") {
			if token = strings.Trim(token, " \t"); token != "" {
				use(token)
			}
		}
	}
}

// dropNominated removes from dst what the Connection lines of a message name.
// It deletes by name instead of comparing each header with each name, so that
// a long list costs what it is long.
func dropNominated(dst http.Header, connection []string) {
	eachToken(connection, func(token string) {
		delete(dst, http.CanonicalHeaderKey(token))
	})
}

// Nominates reports whether the Connection lines of a message name a header, so
// that it is for this end of the connection and nobody behind it. The name is
// in canonical form.
func Nominates(h http.Header, name string) (named bool) {
	eachToken(h["Connection"], func(token string) {
		named = named || http.CanonicalHeaderKey(token) == name
	})
	return named
}

// Response copies to dst the headers of an answer that concern the client. Of
// what was nominated, which may be nil, more is known than src still says.
func Response(dst, src http.Header, nominated *Nominated) {
	for name, values := range src {
		if !endsHere(name) {
			dst[name] = values
		}
	}
	dropNominated(dst, src["Connection"])
	nominated.remove(dst)
}

// Trailers copies to dst the trailers of a message that may be passed on,
// announced or not, each name after prefix. A header of that name has gone out
// by then; left there, net/http would send it a second time as a trailer.
func Trailers(dst, src http.Header, prefix string) {
	for name, values := range src {
		if len(values) > 0 && mayTrail(name) {
			delete(dst, name)
			dst[prefix+name] = values
		}
	}
}

// mayTrail reports whether a field may come after the body. Fields that frame
// or route a message may not (RFC 9110, 6.5.1), and a client must not get past
// the rules for headers by sending its header last.
func mayTrail(name string) bool {
	switch name {
	case "Content-Length", "Content-Type", "Content-Encoding", "Content-Range", "Host":
		return false
	}
	return !endsHere(name) && !claimsOrigin(name)
}

// WantsUpgrade reports whether a request asks to leave HTTP/1.1 on its
// connection, and for what. An offer of h2c is not one: it may be left
// unanswered (RFC 9110, 7.8), and clients that make it go on in HTTP/1.1.
func WantsUpgrade(h http.Header) (protocol string, wants bool) {
	upgrade := h["Upgrade"]
	if len(upgrade) == 0 {
		return "", false
	}
	eachToken(upgrade, func(token string) {
		if protocol == "" && !strings.EqualFold(token, "h2c") {
			protocol = token
		}
	})
	return protocol, protocol != "" && Nominates(h, "Upgrade")
}

// Announced copies to dst the names of trailers that a message has announced
// and that may be passed on.
func Announced(dst, src http.Header) {
	for name := range src {
		if isToken(name) && mayTrail(name) {
			dst[name] = nil
		}
	}
}

// isToken reports whether a name is one (RFC 9110, 5.6.2). net/http does not
// ask that of an announced trailer, and refuses to send one that is none.
func isToken(name string) bool {
	return name != "" && strings.IndexFunc(name, func(c rune) bool {
		return c <= ' ' || c >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, c)
	}) < 0
}
