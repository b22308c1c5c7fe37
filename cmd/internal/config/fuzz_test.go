package config

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/kalan-go/kalan/cmd/internal/strict"
	"github.com/kalan-go/kalan/internal/settings"
)

// Whatever the bytes are, Read neither panics nor says yes to what Validate
// refuses, and what it refuses it refuses with a place in the file.
func FuzzRead(f *testing.F) {
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) == 0 {
		f.Fatal(err)
	}
	more, _ := filepath.Glob("../../../examples/*/*.yaml")
	for _, file := range append(files, more...) {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		file, warnings, err := Read("f", text)
		var found strict.Problems
		switch {
		case err == nil:
			holds(t, file)
		case !errors.As(err, &found):
			t.Errorf("%v has no place in the file", err)
		}
		for _, p := range append(found, warnings...) {
			if p.Line < 1 || p.Column < 1 || p.Text == "" {
				t.Errorf("%+v says nothing", p)
			}
		}
	})
}

// holds reports what a file that was accepted must not have.
func holds(t *testing.T, file settings.File) {
	t.Helper()
	if errs := file.Validate().Errors(); errs != nil {
		t.Errorf("accepted, and with its defaults refused: %v", errs)
	}
	for _, r := range file.Routes {
		if _, ok := file.Upstream(r.Upstream); !ok {
			t.Errorf("%v leads nowhere", r)
		}
	}
}
