package strict

import (
	"encoding"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"

	"github.com/kalan-go/kalan/internal/keys"
	"github.com/kalan-go/kalan/policy/span"
	"go.yaml.in/yaml/v4"
)

// longest is the longest scalar that is read.
const longest = 4096

// scalar reads one value.
func (d *decoder) scalar(n *yaml.Node, f keys.Field, v reflect.Value, path string) {
	switch {
	case n.Kind != yaml.ScalarNode:
		d.fail(n, path, "is %s; write one value", kind(n))
		return
	case len(n.Value) > longest:
		d.fail(n, path, "has %d bytes; %d is the most", len(n.Value), longest)
		return
	}
	err := store(n, v)
	if err == nil && f.None {
		err = none(v)
	}
	if err != nil {
		d.fail(n, path, "%s", err)
		return
	}
	if v.IsZero() {
		d.doc.zeros[path] = true
	}
}

// store sets v to what n says.
func store(n *yaml.Node, v reflect.Value) error {
	switch {
	case keys.IsDuration(v.Type()):
		return storeDuration(n, v)
	case keys.IsText(v.Type()):
		return v.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(n.Value))
	case v.Kind() == reflect.String:
		return storeString(n, v)
	case v.Kind() == reflect.Bool:
		return storeBool(n, v)
	case v.CanInt():
		return storeInt(n, v)
	case v.CanUint():
		return storeUint(n, v)
	case v.CanFloat():
		return storeFloat(n, v)
	}
	panic(fmt.Sprintf("strict: a field of type %s cannot be read", v.Type()))
}

func storeDuration(n *yaml.Node, v reflect.Value) error {
	long, err := span.Parse(n.Value)
	if err == nil {
		v.SetInt(int64(long))
	}
	return err
}

func storeString(n *yaml.Node, v reflect.Value) error {
	switch n.ShortTag() {
	case "!!int", "!!float", "!!bool":
		return fmt.Errorf("is %s; put it in quotes if the text is meant: %q", kind(n), n.Value)
	}
	v.SetString(n.Value)
	return nil
}

func storeBool(n *yaml.Node, v reflect.Value) error {
	if n.ShortTag() != "!!bool" || n.Value != "true" && n.Value != "false" {
		return fmt.Errorf("is %s; write true or false, without quotes", kind(n))
	}
	v.SetBool(n.Value == "true")
	return nil
}

func storeInt(n *yaml.Node, v reflect.Value) error {
	bits := v.Type().Bits()
	whole, err := strconv.ParseInt(n.Value, 10, bits)
	if err := numberError(n, err, math.MinInt64>>(64-bits), math.MaxInt64>>(64-bits)); err != nil {
		return err
	}
	v.SetInt(whole)
	return nil
}

func storeUint(n *yaml.Node, v reflect.Value) error {
	bits := v.Type().Bits()
	whole, err := strconv.ParseUint(n.Value, 10, bits)
	if _, bad := strconv.ParseInt(n.Value, 10, 64); bad == nil && n.Value[0] == '-' {
		err = strconv.ErrRange // it is a whole number
	}
	if err := numberError(n, err, 0, math.MaxUint64>>(64-bits)); err != nil {
		return err
	}
	v.SetUint(whole)
	return nil
}

// numberError says what is wrong with a whole number. One that begins with 0
// is refused because half of the YAML readers take it as octal.
func numberError(n *yaml.Node, err error, low int64, high uint64) error {
	digits := strings.TrimLeft(n.Value, "+-")
	switch {
	case n.ShortTag() == "!!str" && err == nil:
		return fmt.Errorf("is a text in quotes; write the number %s without them", shorten(n.Value))
	case errors.Is(err, strconv.ErrRange):
		return fmt.Errorf("%s is out of range; write a whole number from %d to %d", shorten(n.Value), low, high)
	case err != nil:
		return fmt.Errorf("is %s; write a whole number, such as 25", kind(n))
	case len(digits) > 1 && digits[0] == '0':
		return fmt.Errorf("%s begins with a zero, which some read as octal; write %s", shorten(n.Value), strings.TrimLeft(shorten(digits), "0"))
	}
	return nil
}

func storeFloat(n *yaml.Node, v reflect.Value) error {
	number, err := strconv.ParseFloat(n.Value, v.Type().Bits())
	switch {
	case isNaN(n):
		return fmt.Errorf("%s is not a number that can be counted with; write one, such as 0.5", n.Value)
	case errors.Is(err, strconv.ErrRange):
		return fmt.Errorf("%s is out of range; write a number from -1e308 to 1e308", shorten(n.Value))
	case err != nil || strings.ContainsAny(n.Value, "xXpP_"):
		return fmt.Errorf("is %s; write a number, such as 0.5", kind(n))
	case n.ShortTag() == "!!str":
		return fmt.Errorf("is a text in quotes; write the number %s without them", shorten(n.Value))
	}
	v.SetFloat(number)
	return nil
}

// isNaN reports whether the value is NaN or infinite, as YAML or as people
// write it.
func isNaN(n *yaml.Node) bool {
	number, err := strconv.ParseFloat(strings.Replace(n.Value, ".", "", 1), 64)
	return err == nil && (math.IsNaN(number) || math.IsInf(number, 0)) && !strings.ContainsAny(n.Value, "0123456789")
}

// none stores an explicit 0 as -1 where that means "none", and refuses numbers
// below 0 there: the file says "none" in one way only.
func none(v reflect.Value) error {
	switch {
	case v.CanInt() && v.Int() < 0, v.CanFloat() && v.Float() < 0:
		return errors.New("is negative; write 0 for none")
	case v.CanInt() && v.IsZero():
		v.SetInt(-1)
	case v.CanFloat() && v.IsZero():
		v.SetFloat(-1)
	}
	return nil
}
