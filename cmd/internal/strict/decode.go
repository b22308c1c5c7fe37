package strict

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/kalan-go/kalan/internal/keys"
	"github.com/kalan-go/kalan/policy"
	"go.yaml.in/yaml/v4"
)

// A decoder walks a tree of nodes beside the struct that it fills.
type decoder struct {
	doc      *Doc
	source   source
	known    []string // every key of the whole file, for suggestions
	problems Problems
	values   int     // visited so far; aliases count each time
	open     []visit // the values around the present one, and that one
	spent    bool    // the bound on values was reached and reported
}

// A visit is a value and where the file uses it: an alias, or the value itself.
type visit struct{ value, use *yaml.Node }

// tags are the kinds of values that YAML files of people have.
var tags = []string{"!!str", "!!int", "!!float", "!!bool", "!!null", "!!map", "!!seq", "!!timestamp"}

// value stores what n says in v, which is a field f at path.
func (d *decoder) value(n *yaml.Node, f keys.Field, v reflect.Value, path string) {
	n, ok := d.enter(n, path)
	if !ok {
		return
	}
	defer func() { d.open = d.open[:len(d.open)-1] }()
	switch t := f.Type; {
	case !slices.Contains(tags, n.ShortTag()):
		d.fail(n, path, "the tag %s means nothing here; remove it", shorten(n.Tag))
	case n.ShortTag() == "!!null":
		d.fail(n, path, "has no value; write one or remove the key")
	case t.Kind() == reflect.Pointer:
		v.Set(reflect.New(t.Elem()))
		f.Type = t.Elem()
		d.value(n, f, v.Elem(), path)
	case keys.IsBlock(t) && !(keys.IsText(t) && n.Kind == yaml.ScalarNode):
		d.block(n, t, v, path)
	case keys.IsText(t):
		d.scalar(n, f, v, path)
	case f.Keyed != "":
		d.keyed(n, f, v, path)
	case t.Kind() == reflect.Slice:
		d.list(n, t, v, path)
	case t.Kind() == reflect.Map:
		d.mapping(n, t, v, path)
	default:
		d.scalar(n, f, v, path)
	}
}

// enter follows an alias and counts the value; it is false when the value is
// not to be read.
func (d *decoder) enter(n *yaml.Node, path string) (*yaml.Node, bool) {
	use := n
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	d.values++
	switch {
	case d.spent:
		return nil, false
	case d.values > maxValues:
		d.spent = true
		d.fail(use, path, "more than %d values once the aliases are followed; write less", maxValues)
		return nil, false
	case use != n && d.isOpen(n):
		d.fail(use, path, "the alias *%s contains itself; write the value out", shorten(use.Value))
		return nil, false
	case len(d.open) == maxDepth:
		d.fail(use, path, "is more than %d levels deep", maxDepth)
		return nil, false
	}
	d.open = append(d.open, visit{n, use})
	return n, true
}

func (d *decoder) isOpen(n *yaml.Node) bool {
	return slices.ContainsFunc(d.open, func(v visit) bool { return v.value == n })
}

// block reads a struct that is written as keys and values.
func (d *decoder) block(n *yaml.Node, t reflect.Type, v reflect.Value, path string) {
	known := keys.Of(t)
	if n.Kind != yaml.MappingNode {
		d.fail(n, path, "is %s; write a block with some of: %s", kind(n), strings.Join(names(known), ", "))
		return
	}
	d.pairs(n, path, func(p pair) {
		for _, f := range known {
			if f.Key != p.name {
				continue
			}
			into := v.FieldByIndex(f.Index)
			if p.again {
				into = reflect.New(f.Type).Elem()
			}
			d.value(p.value, f, into, p.path)
			return
		}
		d.unknown(p.key, path, names(known))
	})
}

// keyed reads a mapping whose elements stay in order.
func (d *decoder) keyed(n *yaml.Node, f keys.Field, v reflect.Value, path string) {
	v.Set(reflect.MakeSlice(f.Type, 0, len(n.Content)/2))
	d.named(n, path, func(p pair) {
		element := reflect.New(f.Type.Elem()).Elem()
		element.FieldByName(f.Keyed).SetString(p.name)
		d.value(p.value, keys.Field{Type: element.Type()}, element, p.path)
		if !p.again {
			v.Set(reflect.Append(v, element))
		}
	})
}

// mapping reads a map whose keys are chosen by the writer.
func (d *decoder) mapping(n *yaml.Node, t reflect.Type, v reflect.Value, path string) {
	v.Set(reflect.MakeMap(t))
	d.named(n, path, func(p pair) {
		element := reflect.New(t.Elem()).Elem()
		d.value(p.value, keys.Field{Type: t.Elem()}, element, p.path)
		if !p.again {
			v.SetMapIndex(reflect.ValueOf(p.name).Convert(t.Key()), element)
		}
	})
}

// list reads the elements of a list. An empty one is not nil: it was written.
func (d *decoder) list(n *yaml.Node, t reflect.Type, v reflect.Value, path string) {
	if n.Kind != yaml.SequenceNode {
		d.fail(n, path, "is %s; write a list, such as [%s]", kind(n), example(n))
		return
	}
	v.Set(reflect.MakeSlice(t, len(n.Content), len(n.Content)))
	for i, element := range n.Content {
		below := keys.Item(path, i)
		d.stands(below, element, element)
		d.value(element, keys.Field{Type: t.Elem()}, v.Index(i), below)
	}
}

// stands notes where a path is: a scalar by itself, a block by its key.
func (d *decoder) stands(path string, key, value *yaml.Node) {
	if value.Kind == yaml.ScalarNode || value.Kind == yaml.AliasNode {
		key = value
	}
	if _, known := d.doc.at[path]; !known {
		d.doc.at[path] = d.position(key)
	}
}

func (d *decoder) position(n *yaml.Node) Position {
	return d.source.at(n.Line, n.Column)
}

// fail reports a value that could not be read, at the alias that stands for it
// when it is right elsewhere and wrong here.
func (d *decoder) fail(n *yaml.Node, path, text string, args ...any) {
	d.doc.broken[path] = true
	if last := len(d.open) - 1; last >= 0 && d.open[last].value == n {
		n = d.open[last].use
	}
	d.problem(n, path, text, args...)
}

func (d *decoder) problem(n *yaml.Node, path, text string, args ...any) {
	d.problems = append(d.problems, Problem{d.position(n), policy.Problem{Path: path, Text: printable(fmt.Sprintf(text, args...))}})
}
