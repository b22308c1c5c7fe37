package wire

import (
	"net/http"
	"net/netip"
	"strings"
)

// Client returns the address that a request comes from: the peer's, or the one
// that a trusted peer says. What proxies have added is read from its end: the
// first address there that is not a trusted proxy's is the caller, and whatever
// stands before it the caller may have written (O-37). An entry that is no
// address, and two headers that say different things, leave the peer: a proxy
// that writes one of them passes the other on as it came.
func (t Trust) Client(p *Peer, h http.Header) netip.Addr {
	plain, forwarded := h["X-Forwarded-For"], h["Forwarded"]
	if !p.Trusted || len(plain)+len(forwarded) == 0 {
		return p.Addr
	}
	found := p.Addr
	if len(plain) > 0 {
		found = t.walk(p, plain, hopsOfList)
	}
	if len(forwarded) > 0 {
		said := t.walk(p, forwarded, hopsOfForwarded)
		if len(plain) > 0 && said != found {
			return p.Addr
		}
		found = said
	}
	return found
}

// walk goes from the end of all lines to the first hop that is not trusted. If
// all are, it is the first one.
func (t Trust) walk(p *Peer, lines []string, split func(string) ([]string, bool)) netip.Addr {
	at := p.Addr
	for i := len(lines) - 1; i >= 0; i-- {
		hops, ok := split(lines[i])
		if !ok {
			return p.Addr
		}
		for j := len(hops) - 1; j >= 0; j-- {
			if at, ok = address(hops[j]); !ok {
				return p.Addr
			}
			if !t.holds(at) {
				return at
			}
		}
	}
	return at
}

// hopsOfList splits a line of X-Forwarded-For.
func hopsOfList(line string) (hops []string, ok bool) {
	eachToken([]string{line}, func(hop string) { hops = append(hops, hop) })
	return hops, true
}

// address reads a hop: an address, with or without a port.
func address(hop string) (netip.Addr, bool) {
	addr, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(hop, "["), "]"))
	if err != nil {
		var endpoint netip.AddrPort
		endpoint, err = netip.ParseAddrPort(hop)
		addr = endpoint.Addr()
	}
	return addr.Unmap().WithZone(""), err == nil
}

// hopsOfForwarded returns what the elements of a Forwarded line say after
// "for" (RFC 7239, 4). ok is false when it is not written as it should be.
func hopsOfForwarded(line string) (hops []string, ok bool) {
	elements, ok := splitQuoted(line, ',')
	if !ok {
		return nil, false
	}
	for _, element := range elements {
		if element = strings.Trim(element, " \t"); element == "" {
			continue // a list may have empty elements
		}
		pairs, _ := splitQuoted(element, ';')
		hop := ""
		for _, pair := range pairs {
			name, value, _ := strings.Cut(pair, "=")
			if strings.EqualFold(strings.Trim(name, " \t"), "for") {
				hop = unquote(strings.Trim(value, " \t"))
			}
		}
		hops = append(hops, hop) // "" is no address
	}
	return hops, true
}

// splitQuoted splits at separators outside of quoted strings. ok is false when
// a string does not end.
func splitQuoted(s string, separator byte) (parts []string, ok bool) {
	quoted, begin := false, 0
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '"':
			quoted = !quoted
		case s[i] == '\\' && quoted:
			i++
		case s[i] == separator && !quoted:
			parts, begin = append(parts, s[begin:i]), i+1
		}
	}
	return append(parts, s[begin:]), !quoted
}

func unquote(s string) string {
	if len(s) < 2 || s[0] != '"' || s[len(s)-1] != '"' {
		return s
	}
	s = s[1 : len(s)-1]
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// Block returns the network that an address stands for where callers are
// counted by theirs: itself, and of IPv6 the /64, which is what one customer
// has (O-24).
func Block(a netip.Addr) netip.Addr {
	if !a.Is6() {
		return a
	}
	p, _ := a.Prefix(64)
	return p.Addr()
}
