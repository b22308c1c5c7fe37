package route

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// dispute returns why a path is refused that somebody reads differently than we
// do: for us it leads to the route of that index.
func (t *Table) dispute(method, raw string, ours int) *Error {
	r := readings{left: mostRead}
	before := r.close([]string{raw}, ways[:])
	var decoded []string
	for _, path := range before {
		decoded = r.add(decoded, unescape(path))
	}
	for _, path := range r.close(decoded, append(ways[:], unescape)) {
		resolved, ok := resolve(path)
		switch {
		case !ok:
			return errAbove
		case strings.Contains(path, "\x00"):
			return errNul
		case t.find(method, resolved) != ours:
			return errAmbiguous
		}
	}
	if r.left < 0 {
		return errTangled
	}
	return nil
}

// ways are what servers have been seen to do to a path, or not to do, in any
// order, before and after they decode it.
var ways = [...]func(string) string{inASCII, withoutQuery, withSlashes, withoutParameters, withoutEmpty, withoutDots}

// readings collects every path that a server may read out of one. No single one
// stands for the others: whoever drops empty segments understands /a%2F%2F.. as
// the root, and whoever does not as /a.
type readings struct{ left int }

const (
	// mostRead bounds what the readings of one path are long together, so that a
	// path that is made for it costs no more than the request around it. An
	// honest one has a few.
	mostRead = 32 << 10
	// each is what a short one costs.
	each = 256
)

// close adds to the paths what becomes of them, until nothing new does: each way
// makes a path shorter, or takes a sign out of it.
func (r *readings) close(paths []string, by []func(string) string) []string {
	for i := 0; i < len(paths) && r.left >= 0; i++ {
		for _, way := range by {
			paths = r.add(paths, way(paths[i]))
		}
	}
	return paths
}

func (r *readings) add(to []string, path string) []string {
	if r.left < 0 || slices.Contains(to, path) {
		return to
	}
	r.left -= len(path) + each
	return append(to, path)
}

// unescape decodes escapes once, and leaves what is none as it is: others do not
// stop at it.
func unescape(path string) string {
	if !strings.Contains(path, "%") {
		return path
	}
	b := make([]byte, 0, len(path))
	for i := 0; i < len(path); i++ {
		if c := path[i]; c != '%' || i+2 >= len(path) || !isHex(path[i+1]) || !isHex(path[i+2]) {
			b = append(b, c)
			continue
		}
		b = append(b, hex(path[i+1])<<4|hex(path[i+2]))
		i += 2
	}
	return string(b)
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f'
}

func hex(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return c&0xf + 9
}

// inASCII reads characters that are written in more bytes of UTF-8 than they
// need, which is not allowed (RFC 3629, 10) and was done all the same
// (CVE-2008-2938).
func inASCII(path string) string {
	if utf8.ValidString(path) {
		return path
	}
	follows := func(i int) bool { return i < len(path) && path[i]&0xc0 == 0x80 }
	b := make([]byte, 0, len(path))
	for i := 0; i < len(path); i++ {
		switch c := path[i]; {
		case c&0xfe == 0xc0 && follows(i+1):
			b = append(b, c<<6|path[i+1]&0x3f)
			i++
		case c == 0xe0 && follows(i+1) && path[i+1]&0xfe == 0x80 && follows(i+2):
			b = append(b, path[i+1]<<6|path[i+2]&0x3f)
			i += 2
		default:
			b = append(b, c)
		}
	}
	return string(b)
}

// withoutQuery ends the path where a query or a fragment begins once it is
// decoded (CVE-2024-38475).
func withoutQuery(path string) string {
	if i := strings.IndexAny(path, "?#"); i > 0 {
		return path[:i]
	}
	return path
}

func withoutDots(path string) string {
	if resolved, ok := resolve(path); ok {
		return resolved
	}
	return path
}

func withSlashes(path string) string { return strings.ReplaceAll(path, `\`, "/") }

func withoutParameters(path string) string {
	if !strings.Contains(path, ";") {
		return path
	}
	segments := strings.Split(path, "/")
	for i := range segments {
		segments[i], _, _ = strings.Cut(segments[i], ";")
	}
	return strings.Join(segments, "/")
}

func withoutEmpty(path string) string {
	for strings.Contains(path, "//") {
		path = strings.ReplaceAll(path, "//", "/")
	}
	return path
}
