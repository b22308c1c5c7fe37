// Package keys describes how configuration structs are written as YAML: which
// keys a struct has, in which order, and what each of them takes.
//
// It is the one description behind the strict reader, the JSON schema, the
// checks that concern every field alike and the paths in all their messages, so
// that none of them can know a key that another does not.
//
// A struct is a block when its fields carry yaml tags:
//
//	Slow     time.Duration `yaml:"slow"`
//	Waiting  int           `yaml:"waiting" zero:"none"`     an explicit 0 is stored as -1
//	Breaker  BreakerConfig `yaml:"breaker"`                 a block
//	Config                 `yaml:",inline"`                 its keys stand among the outer ones
//	Upstream []Upstream    `yaml:"upstreams" keyed:"Name"`  a mapping that keeps its order; the key goes to Name
//	Internal int           `yaml:"-"`                       no key
//
// A type with UnmarshalText is written as one scalar, and as a block as well
// when its fields carry tags.
package keys

import (
	"encoding"
	"fmt"
	"reflect"
	"strings"
	"time"
)

// A Field is one key of a block.
type Field struct {
	// Key is the key as it is written.
	Key string
	// Index leads to the field from the block's struct.
	Index []int
	// Type is what the field holds.
	Type reflect.Type
	// None: an explicit 0 means "none" and is stored as -1.
	None bool
	// Keyed names the field of the elements that takes the key, when the field
	// is a slice that is written as a mapping.
	Keyed string
}

// Of returns the keys of the struct type t in the order of its fields. An
// exported field without a yaml tag is a mistake in the program and panics: it
// would be a setting that no file can reach.
func Of(t reflect.Type) []Field {
	var all []Field
	for i := range t.NumField() {
		f := t.Field(i)
		tag, tagged := f.Tag.Lookup("yaml")
		name, options, _ := strings.Cut(tag, ",")
		switch {
		case name == "-" || !f.IsExported():
		case options == "inline":
			for _, inner := range Of(f.Type) {
				inner.Index = append([]int{i}, inner.Index...)
				all = append(all, inner)
			}
		case !tagged || name == "":
			panic(fmt.Sprintf("%s.%s has no yaml tag", t, f.Name))
		default:
			all = append(all, Field{
				Key: name, Index: []int{i}, Type: f.Type,
				None: f.Tag.Get("zero") == "none", Keyed: f.Tag.Get("keyed"),
			})
		}
	}
	return all
}

var (
	textType     = reflect.TypeFor[encoding.TextUnmarshaler]()
	durationType = reflect.TypeFor[time.Duration]()
)

// IsText reports whether a value of type t is read from one scalar by its own
// UnmarshalText.
func IsText(t reflect.Type) bool { return reflect.PointerTo(t).Implements(textType) }

// IsDuration reports whether t is time.Duration.
func IsDuration(t reflect.Type) bool { return t == durationType }

// IsBlock reports whether t is a struct that is written as keys and values.
func IsBlock(t reflect.Type) bool {
	if t.Kind() != reflect.Struct || !IsText(t) {
		return t.Kind() == reflect.Struct
	}
	for i := range t.NumField() {
		if _, tagged := t.Field(i).Tag.Lookup("yaml"); tagged {
			return true
		}
	}
	return false
}
