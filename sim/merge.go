package sim

import (
	"reflect"

	"github.com/kalan-go/kalan/internal/keys"
)

// with returns the scenario as the arm has it.
func (s Scenario) with(a Arm) Scenario {
	overlay := Scenario{Services: a.Services, Loads: a.Loads, Triggers: a.Triggers}
	merged := reflect.New(reflect.TypeFor[Scenario]()).Elem()
	merged.Set(reflect.ValueOf(s))
	lay(merged, reflect.ValueOf(overlay), keys.Field{Type: merged.Type()})
	return merged.Interface().(Scenario)
}

// lay puts what over says in the place of what base says, key by key. It
// changes nothing that base shares with others.
func lay(base, over reflect.Value, f keys.Field) {
	switch t := base.Type(); {
	case t.Kind() == reflect.Pointer:
		layPointer(base, over)
	case keys.IsBlock(t) && !keys.IsText(t):
		for _, f := range keys.Of(t) {
			lay(base.FieldByIndex(f.Index), over.FieldByIndex(f.Index), f)
		}
	case f.Keyed != "":
		layKeyed(base, over, f.Keyed)
	case !over.IsZero():
		base.Set(over)
	}
}

func layPointer(base, over reflect.Value) {
	if over.IsNil() {
		return
	}
	fresh := reflect.New(base.Type().Elem())
	if !base.IsNil() {
		fresh.Elem().Set(base.Elem())
	}
	lay(fresh.Elem(), over.Elem(), keys.Field{Type: fresh.Elem().Type()})
	base.Set(fresh)
}

// layKeyed lays elements of the same name over each other and adds the others.
func layKeyed(base, over reflect.Value, name string) {
	if over.Len() == 0 {
		return
	}
	all := reflect.MakeSlice(base.Type(), base.Len(), base.Len()+over.Len())
	reflect.Copy(all, base)
	for i := range over.Len() {
		element := over.Index(i)
		at := indexOf(all, element.FieldByName(name).String(), name)
		if at < 0 {
			all = reflect.Append(all, element)
			continue
		}
		lay(all.Index(at), element, keys.Field{Type: element.Type()})
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
