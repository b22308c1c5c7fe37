package sim

import (
	"reflect"
	"slices"

	"github.com/kalan-go/kalan/internal/keys"
)

// with returns the scenario as the arm has it.
func (s Scenario) with(a Arm) Scenario {
	overlay := Scenario{Services: a.Services, Loads: a.Loads, Triggers: a.Triggers}
	merged := reflect.New(reflect.TypeFor[Scenario]()).Elem()
	merged.Set(reflect.ValueOf(s))
	l := layers{zeros: a.Zeros}
	l.lay("", keys.Field{Type: merged.Type()}, merged, reflect.ValueOf(overlay))
	return merged.Interface().(Scenario)
}

// layers lays values over others.
type layers struct{ zeros []string }

// lay puts what over says in the place of what base says, key by key. It
// changes nothing that base shares with others.
func (l *layers) lay(path string, f keys.Field, base, over reflect.Value) {
	switch t := base.Type(); {
	case t.Kind() == reflect.Pointer:
		l.pointer(path, base, over)
	case keys.IsBlock(t) && !keys.IsText(t):
		for _, inner := range keys.Of(t) {
			l.lay(keys.Join(path, inner.Key), inner, base.FieldByIndex(inner.Index), over.FieldByIndex(inner.Index))
		}
	case f.Keyed != "":
		l.keyed(path, base, over, f.Keyed)
	case !over.IsZero() || slices.Contains(l.zeros, path):
		base.Set(over)
	}
}

func (l *layers) pointer(path string, base, over reflect.Value) {
	if over.IsNil() {
		return
	}
	fresh := reflect.New(base.Type().Elem())
	if !base.IsNil() {
		fresh.Elem().Set(base.Elem())
	}
	l.lay(path, keys.Field{Type: fresh.Elem().Type()}, fresh.Elem(), over.Elem())
	base.Set(fresh)
}

// keyed lays elements of the same name over each other and adds the others.
func (l *layers) keyed(path string, base, over reflect.Value, name string) {
	if over.Len() == 0 {
		return
	}
	all := reflect.MakeSlice(base.Type(), base.Len(), base.Len()+over.Len())
	reflect.Copy(all, base)
	for i := range over.Len() {
		element := over.Index(i)
		key := element.FieldByName(name).String()
		at := indexOf(all, key, name)
		if at < 0 {
			all = reflect.Append(all, element)
			continue
		}
		l.lay(keys.Join(path, key), keys.Field{Type: element.Type()}, all.Index(at), element)
	}
	base.Set(all)
}

func indexOf(elements reflect.Value, key, name string) int {
	for i := range elements.Len() {
		if elements.Index(i).FieldByName(name).String() == key {
			return i
		}
	}
	return -1
}
