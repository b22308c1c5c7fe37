package strict

import (
	"slices"
	"strings"

	"github.com/kalan-go/kalan/internal/keys"
	"github.com/kalan-go/kalan/internal/nearest"
	"go.yaml.in/yaml/v4"
)

// unknown reports a key that does not exist, with the one that was probably
// meant: of the same block, or else of another.
func (d *decoder) unknown(key *yaml.Node, path string, known []string) {
	below := keys.Join(path, key.Value)
	d.doc.broken[below] = true
	if len(d.problems) >= shown { // nobody sees these, and thousands of searches take their time
		d.problem(key, below, "unknown key")
		return
	}
	if near, ok := nearest.Word(key.Value, known); ok {
		// What is missing now was meant by this key: Validate need not say so.
		d.doc.broken[keys.Join(path, near)] = true
		d.problem(key, below, "unknown key; did you mean %q?", near)
		return
	}
	if elsewhere := d.elsewhere(key.Value); elsewhere != "" {
		d.problem(key, below, "unknown key; did you mean %s?", elsewhere)
		return
	}
	d.problem(key, below, "unknown key; here may stand: %s", strings.Join(known, ", "))
}

// elsewhere returns the paths, at most three, under which the whole file knows
// the most similar key.
func (d *decoder) elsewhere(key string) string {
	last := make([]string, len(d.known))
	for i, path := range d.known {
		last[i] = path[strings.LastIndex(path, ".")+1:]
	}
	near, ok := nearest.Word(key, last)
	if !ok {
		return ""
	}
	var paths []string
	for i, path := range d.known {
		if last[i] == near {
			paths = append(paths, path)
		}
	}
	return strings.Join(paths[:min(len(paths), 3)], " or ")
}

func names(known []keys.Field) []string {
	all := make([]string, len(known))
	for i, f := range known {
		all[i] = f.Key
	}
	return slices.Clip(all)
}
