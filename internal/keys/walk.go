package keys

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// plain are the characters of keys that stand in a path as they are.
const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-<>"

// Join returns the path of a key below the path of its block. A key that would
// make the path ambiguous, or spoil a terminal, stands in quotes and is cut.
func Join(path, key string) string {
	if key == "" || len(key) > 64 || strings.Trim(key, plain) != "" {
		key = strconv.Quote(key[:min(len(key), 64)])
	}
	if path == "" {
		return key
	}
	return path + "." + key
}

// Item returns the path of the element at index i of the list at path.
func Item(path string, i int) string { return fmt.Sprintf("%s[%d]", path, i) }

// Walk calls visit for every value that v holds and that is written as one
// scalar, with its path and the field it belongs to.
func Walk(v reflect.Value, visit func(path string, f Field, v reflect.Value)) {
	walk("", Field{Type: v.Type()}, v, visit)
}

func walk(path string, f Field, v reflect.Value, visit func(string, Field, reflect.Value)) {
	switch t := v.Type(); {
	case t.Kind() == reflect.Pointer:
		if !v.IsNil() {
			walk(path, f, v.Elem(), visit)
		}
	case IsBlock(t):
		for _, inner := range Of(t) {
			walk(Join(path, inner.Key), inner, v.FieldByIndex(inner.Index), visit)
		}
	case IsText(t):
		visit(path, f, v)
	case t.Kind() == reflect.Slice:
		for i := range v.Len() {
			walk(elementPath(path, f, v.Index(i), i), Field{Type: t.Elem()}, v.Index(i), visit)
		}
	case t.Kind() == reflect.Map:
		names := v.MapKeys()
		slices.SortFunc(names, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, name := range names {
			walk(Join(path, name.String()), Field{Type: t.Elem()}, v.MapIndex(name), visit)
		}
	default:
		visit(path, f, v)
	}
}

// elementPath is the path of an element: by its key when it has one.
func elementPath(path string, f Field, element reflect.Value, i int) string {
	if f.Keyed == "" {
		return Item(path, i)
	}
	return Join(path, element.FieldByName(f.Keyed).String())
}

// All returns the path of every key that a value of type t can be written
// with. Elements of lists are "[]" and names chosen by the writer "<name>":
// "upstreams.<name>.breaker.slow", "routes[].match".
func All(t reflect.Type) []string {
	var paths []string
	gather("", Field{Type: t}, &paths)
	return paths
}

func gather(path string, f Field, paths *[]string) {
	switch t := f.Type; {
	case t.Kind() == reflect.Pointer:
		f.Type = t.Elem()
		gather(path, f, paths)
	case IsBlock(t):
		for _, inner := range Of(t) {
			below := Join(path, inner.Key)
			*paths = append(*paths, below)
			gather(below, inner, paths)
		}
	case IsText(t):
	case t.Kind() == reflect.Map || f.Keyed != "":
		gather(Join(path, "<name>"), Field{Type: t.Elem()}, paths)
	case t.Kind() == reflect.Slice:
		gather(path+"[]", Field{Type: t.Elem()}, paths)
	}
}
