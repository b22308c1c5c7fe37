package strict

import (
	"github.com/kalan-go/kalan/internal/keys"
	"go.yaml.in/yaml/v4"
)

// A pair is one key and its value.
type pair struct {
	name       string
	path       string
	key, value *yaml.Node
	again      bool // the key has been there before
}

// pairs calls each for the keys of a mapping that are keys, and reports the
// others and those that come twice.
func (d *decoder) pairs(n *yaml.Node, path string, each func(pair)) {
	first := make(map[string]*yaml.Node, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		p := pair{name: n.Content[i].Value, key: n.Content[i], value: n.Content[i+1]}
		switch {
		case p.key.ShortTag() == "!!merge":
			d.problem(p.key, keys.Join(path, "<<"), "merge keys (<<) are not read, since what wins is easily misread; write the keys out, or give the whole block as an alias")
			continue
		case p.key.Kind != yaml.ScalarNode || p.key.ShortTag() == "!!null" || p.name == "":
			d.problem(p.key, path, "a key is a plain word; this one is %s", kind(p.key))
			continue
		}
		p.path = keys.Join(path, p.name)
		if before, twice := first[p.name]; twice {
			p.again = true
			d.problem(p.key, p.path, "duplicate key; it stands on line %d already: did you mean another key? Keep one of the two", before.Line)
		} else {
			first[p.name] = p.key
			d.stands(p.path, p.key, p.value)
		}
		each(p)
	}
}

// named is pairs for a mapping whose keys are chosen by the writer.
func (d *decoder) named(n *yaml.Node, path string, each func(pair)) {
	if n.Kind != yaml.MappingNode {
		d.fail(n, path, "is %s; write a block of names and their values", kind(n))
		return
	}
	d.pairs(n, path, each)
}
