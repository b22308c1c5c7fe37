// Package strict reads YAML files into Go structs and lets nothing pass: for
// everyone who writes a configuration or a scenario by hand.
//
// A key that does not exist, a key written twice, a duration without a unit, a
// NaN, a second document: each is a problem with file, line, column, full path
// and what to write instead, and one run reports all of them. Only a syntax
// error hides what follows it, since nobody can say what would have followed.
//
// Which keys there are is read from the structs (package keys). A field may
// be a bool, a number, a string, a duration, a type with UnmarshalText, a
// block, a pointer to one of these, a list, a map from string, or a mapping
// that keeps its order (tag keyed).
//
// Use Decode for files that people write. It is not a YAML library: merge keys,
// tags of one's own, null as a value and several documents in a file are
// refused, since each of them has made files mean what nobody meant. Anchors
// and aliases work, within bounds: a file has at most 1 MiB, 100,000 values
// after the aliases are followed, and 64 levels.
package strict

import (
	"reflect"
	"slices"
	"strings"

	"github.com/kalan-go/kalan/internal/keys"
	"github.com/kalan-go/kalan/policy"
)

// A Doc knows where everything stands in a file that was read.
type Doc struct {
	// at has the position of every path that the file sets.
	at map[string]Position
	// zeros are the paths of values that were written and are the zero value of
	// their type.
	zeros map[string]bool
	// broken are the paths whose values could not be read.
	broken map[string]bool
}

// Decode reads text, the content of file, into the struct that into points to.
// Fields that the file does not name keep what they hold. The problems are
// sorted by position; with a problem, into holds what could be read and the
// Doc is still good for Locate and Place.
func Decode(file string, text []byte, into any) (*Doc, Problems) {
	doc := &Doc{at: map[string]Position{}, zeros: map[string]bool{}, broken: map[string]bool{}}
	src := newSource(file, text)
	doc.at[""] = src.at(1, 1)
	root, problem := src.parse()
	if problem != nil {
		doc.broken[""] = true
		return doc, Problems{*problem}
	}
	target := reflect.ValueOf(into).Elem()
	d := &decoder{doc: doc, source: src, known: keys.All(target.Type())}
	d.value(root, keys.Field{Type: target.Type()}, target, "")
	d.problems.Sort()
	return doc, d.problems
}

// Locate returns where the value at path stands, or the nearest block around
// it that the file has.
func (d *Doc) Locate(path string) Position {
	for {
		if at, ok := d.at[path]; ok {
			return at
		}
		path = parent(path)
	}
}

// Written reports whether the file sets the path.
func (d *Doc) Written(path string) bool {
	_, ok := d.at[path]
	return ok
}

// Paths returns every path that the file sets, in the order of the file.
func (d *Doc) Paths() []string {
	paths := make([]string, 0, len(d.at))
	for path := range d.at {
		if path != "" {
			paths = append(paths, path)
		}
	}
	slices.SortFunc(paths, func(a, b string) int {
		if order := d.at[a].compare(d.at[b]); order != 0 {
			return order
		}
		return strings.Compare(a, b)
	})
	return paths
}

// WrittenZero reports whether the file sets the path to the zero value of its
// type, which a default may replace unless the field says otherwise.
func (d *Doc) WrittenZero(path string) bool { return d.zeros[path] }

// Place gives what Validate found its place in the file. Problems of values
// that could not be read are left out: they have been reported already, and
// what Validate saw there is not what was written.
func (d *Doc) Place(found policy.Problems) Problems {
	var placed Problems
	for _, p := range found {
		if !d.isBroken(p.Path) {
			placed = append(placed, Problem{d.Locate(p.Path), p})
		}
	}
	placed.Sort()
	return placed
}

func (d *Doc) isBroken(path string) bool {
	for ; path != ""; path = parent(path) {
		if d.broken[path] {
			return true
		}
	}
	return d.broken[""]
}

// parent cuts the last key or index off a path.
func parent(path string) string {
	return path[:max(strings.LastIndexAny(path, ".["), 0)]
}
