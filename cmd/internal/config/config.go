// Package config reads kalan.yaml: for every command that takes --config.
//
// It puts together what two others know: strict how a file is read, and settings
// what the values mean and which of them go together. One Load reports
// everything that both find, and what its caller adds: whoever serves needs the files that this one names, and
// a planner does not.
package config

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"reflect"

	"github.com/kalan-go/kalan/cmd/internal/strict"
	"github.com/kalan-go/kalan/internal/keys"
	"github.com/kalan-go/kalan/internal/settings"
	"github.com/kalan-go/kalan/policy"
)

// A Check finds what is wrong with a configuration beyond its own content. It is
// given one that may have other mistakes.
type Check func(settings.File) policy.Problems

// Load reads the file with the given name. It returns the configuration with
// its defaults filled in and the names of files below its own directory, and
// warnings about what is allowed and probably not meant. The error is
// strict.Problems when the content is at fault.
func Load(name string, checks ...Check) (file settings.File, warnings strict.Problems, err error) {
	text, err := strict.ReadFile(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return settings.File{}, nil, fmt.Errorf("%s: there is no such file; the smallest one that is useful is examples/minimal/kalan.yaml", name)
	case err != nil:
		return settings.File{}, nil, err
	}
	return Read(name, text, checks...)
}

// Read is Load of a file whose content is text.
func Read(name string, text []byte, checks ...Check) (file settings.File, warnings strict.Problems, err error) {
	var written settings.File
	doc, problems := strict.Decode(name, text, &written)
	full := written.WithDefaults()
	full.TLS = full.TLS.Below(filepath.Dir(name))
	found := append(replaced(doc, full), worthSaying(doc, written.Validate())...)
	for _, check := range checks {
		found = append(found, check(full)...)
	}
	problems = append(problems, doc.Place(found)...)
	problems.Sort()
	errs, warnings := problems.Split()
	if len(errs) > 0 {
		return settings.File{}, warnings, errs
	}
	return full, warnings, nil
}

// replaced finds values that were written and that a default would replace
// unseen: they are the zero value, and the field has no zero.
func replaced(doc *strict.Doc, full settings.File) policy.Problems {
	var found policy.Problems
	keys.Walk(reflect.ValueOf(full), func(path string, f keys.Field, v reflect.Value) {
		number := v.CanInt() || v.CanFloat()
		if number && full.Defences == settings.DefencesOn && doc.WrittenZero(path) && !v.IsZero() {
			found = append(found, policy.Problem{Path: path, Text: fmt.Sprintf(
				"0 is not possible here and would mean the default, %v; write that or another value, or remove the key", v.Interface())})
		}
	})
	return found
}
