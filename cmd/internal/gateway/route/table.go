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

// String writes the pattern as the configuration does.
func (p Pattern) String() string { return strings.TrimSpace(p.Method + " " + p.Prefix) }

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
	for prefix := t.cut(path); prefix != ""; prefix = shorter(prefix) {
		byMethod, ok := t.prefixes[prefix]
		if !ok {
			continue
		}
		if i, ok := byMethod.lookup(method); ok {
			return i
		}
		found = wrongMethod
	}
	return found
}

// shorter returns the next shorter prefix at the border of a segment: without
// the slash at the end, or up to the last one.
func shorter(prefix string) string {
	if bare, ok := strings.CutSuffix(prefix, "/"); ok {
		return bare
	}
	return prefix[:strings.LastIndexByte(prefix, '/')+1]
}

// allowed lists the methods that the path takes.
func (t *Table) allowed(path string) string {
	var names []string
	for prefix, byMethod := range t.prefixes {
		if path == prefix || strings.HasPrefix(path, strings.TrimSuffix(prefix, "/")+"/") {
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
			return path[:i+1]
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
