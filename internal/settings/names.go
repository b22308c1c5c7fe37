package settings

import (
	"net/netip"
	"strings"

	"github.com/kalan-go/kalan/internal/nearest"
)

// isName reports whether s can name an upstream or a level: it stands in
// paths, metric labels and headers as it is.
func isName(s string) bool {
	return s != "" && len(s) <= longestName && strings.IndexFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_')
	}) < 0
}

// isHost reports whether s is an IP address or a name in DNS.
func isHost(s string) bool {
	if _, err := netip.ParseAddr(s); err == nil {
		return true
	}
	for _, label := range strings.Split(strings.TrimSuffix(s, "."), ".") {
		if !isName(label) {
			return false
		}
	}
	return len(s) <= 253
}

// isToken reports whether s can be the name of a header (RFC 9110, 5.6.2).
func isToken(s string) bool {
	return s != "" && len(s) <= 256 && strings.IndexFunc(s, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
	}) < 0
}

// instead asks whether the name that is most like word was meant, or says what
// may be written when none is like it.
func instead(word string, names []string, otherwise string) string {
	if near, ok := nearest.Word(word, names); ok {
		return "did you mean " + near + "?"
	}
	return "write " + otherwise
}
