// Package schema describes a configuration as JSON schema (draft 7), for
// editors: completion, the meaning of a key under the cursor, a red line under
// what is wrong before anything runs.
//
// It reads the same description of the structs as the strict reader does
// (package keys), so that a key of the one is a key of the other. What a schema
// cannot say, such as that one duration lies below another, is left to Validate.
package schema

import (
	"fmt"
	"reflect"

	"github.com/kalan-go/kalan/internal/keys"
)

// A Node is a schema or a part of one.
type Node = map[string]any

// A Describer holds what the types do not say.
type Describer struct {
	// Notes are the doc comments of fields, from ReadNotes.
	Notes map[string]string
	// Forms are the schemas of types that read themselves from a text.
	Forms map[reflect.Type]Node
	// Words are the possible values of strings, by path.
	Words map[string][]string
	// Required are the keys without which a block is useless, by its path.
	Required map[string][]string
	// Defaults are the values of keys that are left out, by path.
	Defaults map[string]any
}

// Of returns the schema of files that are read into t. A type whose form is not
// stated panics: its key would be one that the editor knows nothing about.
func (d Describer) Of(t reflect.Type, title string) Node {
	n := d.value("", keys.Field{Type: t})
	n["$schema"] = "http://json-schema.org/draft-07/schema#"
	n["title"] = title
	return n
}

func (d Describer) value(path string, f keys.Field) Node {
	switch t := f.Type; {
	case t.Kind() == reflect.Pointer:
		f.Type = t.Elem()
		return d.value(path, f)
	case d.Words[path] != nil:
		return Node{"enum": d.Words[path]}
	case keys.IsText(t) && keys.IsBlock(t):
		return Node{"anyOf": []any{d.form(t), d.block(path, t)}}
	case keys.IsText(t):
		return d.form(t)
	case keys.IsBlock(t):
		return d.block(path, t)
	case f.Keyed != "" || t.Kind() == reflect.Map:
		return Node{"type": "object", "additionalProperties": d.value(keys.Join(path, "<name>"), keys.Field{Type: t.Elem()})}
	case t.Kind() == reflect.Slice:
		return Node{"type": "array", "items": d.value(path+"[]", keys.Field{Type: t.Elem()})}
	case keys.IsDuration(t):
		return duration(f.None)
	}
	return scalar(f.Type)
}

func (d Describer) block(path string, t reflect.Type) Node {
	properties := Node{}
	for _, f := range keys.Of(t) {
		below := keys.Join(path, f.Key)
		n := d.value(below, f)
		if note := d.Notes[fieldName(t, f.Index)]; note != "" {
			n["description"] = note + none(f)
		}
		if value, ok := d.Defaults[below]; ok {
			n["default"] = value
		}
		properties[f.Key] = n
	}
	n := Node{"type": "object", "properties": properties, "additionalProperties": false}
	if required := d.Required[path]; required != nil {
		n["required"] = required
	}
	return n
}

// none says how a file writes what the comment calls negative.
func none(f keys.Field) string {
	if !f.None {
		return ""
	}
	return " (In a file: leave it out for the default, write 0 for none.)"
}

func (d Describer) form(t reflect.Type) Node {
	form, ok := d.Forms[t]
	if !ok {
		panic(fmt.Sprintf("schema: how %s is written is not stated", t))
	}
	own := Node{}
	for key, value := range form {
		own[key] = value
	}
	return own
}

// duration is a number and a unit, once or several times, and 0 where that
// means none.
func duration(none bool) Node {
	text := Node{"type": "string", "pattern": `^([0-9]+(\.[0-9]*)?(ns|us|µs|μs|ms|s|m|h))+$`}
	if none {
		return Node{"anyOf": []any{text, Node{"const": 0}}}
	}
	return text
}

func scalar(t reflect.Type) Node {
	switch v := reflect.Zero(t); {
	case t.Kind() == reflect.String:
		return Node{"type": "string"}
	case t.Kind() == reflect.Bool:
		return Node{"type": "boolean"}
	case v.CanInt() || v.CanUint():
		return Node{"type": "integer", "minimum": 0}
	case v.CanFloat():
		return Node{"type": "number", "minimum": 0}
	}
	panic(fmt.Sprintf("schema: a field of type %s cannot be written", t))
}
