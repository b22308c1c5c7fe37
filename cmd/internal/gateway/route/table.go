package route

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// A Pattern is what a route takes: a path prefix, and the method when one is
// named.
type Pattern struct {
	Method, Prefix string
}

// Parse reads "/prices/" or "POST /orders/".
func Parse(text string) (Pattern, error) {
	method, prefix, named := strings.Cut(text, " ")
	if !named {
		method, prefix = "", text
	}
	switch {
	case !strings.HasPrefix(prefix, "/"):
		return Pattern{}, fmt.Errorf(`%q has no path; write a prefix such as "/prices/", or "POST /orders/"`, text)
	case named && (method == "" || method != strings.ToUpper(method)):
		return Pattern{}, fmt.Errorf(`%q does not begin with a method; write it in capitals, such as "POST %s"`, text, prefix)
	case strings.ContainsAny(prefix, "%;\\? #") || strings.Contains(prefix, "//") || hasDots(prefix):
		return Pattern{}, fmt.Errorf(`%q is not a plain path; write segments without escapes, dots, queries and empty parts`, text)
	}
	return Pattern{method, strings.TrimRight(prefix, "/")}, nil
}

// String writes the pattern as Parse reads it.
func (p Pattern) String() string {
	return strings.TrimPrefix(p.Method+" "+p.Prefix+"/", " ")
}

// A Table finds routes. It is built once and then only read, by any number of
// goroutines.
type Table struct {
	prefixes map[string]methods
	deepest  int // slashes in the longest prefix: no look-up goes deeper
}

// methods holds the routes of one prefix by method; "" takes every other.
type methods map[string]int

// New returns the table in which each pattern leads to its index.
func New(patterns []Pattern) (*Table, error) {
	t := &Table{prefixes: make(map[string]methods)}
	for i, p := range patterns {
		if t.prefixes[p.Prefix] == nil {
			t.prefixes[p.Prefix] = make(methods)
		}
		if first, taken := t.prefixes[p.Prefix][p.Method]; taken {
			return nil, fmt.Errorf("%q takes the same requests as %q; remove one of the two", p, patterns[first])
		}
		t.prefixes[p.Prefix][p.Method] = i
		t.deepest = max(t.deepest, strings.Count(p.Prefix, "/"))
	}
	return t, nil
}

// None is the index of no route: nothing has that path.
const None = -1

// wrongMethod is the index when a prefix matched and its methods did not.
const wrongMethod = -2

// find returns the index of the route for a decoded path without dot segments,
// None, or wrongMethod.
func (t *Table) find(method, path string) int {
	found := None
	for prefix := t.cut(path); ; {
		if byMethod, ok := t.prefixes[prefix]; ok {
			if i, ok := byMethod.lookup(method); ok {
				return i
			}
			found = wrongMethod
		}
		slash := strings.LastIndexByte(prefix, '/')
		if slash < 0 {
			return found
		}
		prefix = prefix[:slash]
	}
}

// allowed lists the methods that the path takes.
func (t *Table) allowed(path string) string {
	var names []string
	for prefix, byMethod := range t.prefixes {
		if path == prefix || strings.HasPrefix(path, prefix+"/") {
			names = slices.AppendSeq(names, maps.Keys(byMethod))
		}
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), ", ")
}

// cut returns the part of the path that can decide: no longer than the longest
// prefix, so that a hostile path of ten thousand slashes costs no more look-ups
// than an honest one.
func (t *Table) cut(path string) string {
	slashes := 0
	for i := range len(path) {
		if path[i] != '/' {
			continue
		}
		if slashes++; slashes > t.deepest {
			return path[:i]
		}
	}
	return path
}

func (m methods) lookup(method string) (int, bool) {
	if i, ok := m[method]; ok {
		return i, true
	}
	if method == http.MethodHead {
		if i, ok := m[http.MethodGet]; ok {
			return i, true
		}
	}
	i, ok := m[""]
	return i, ok
}
