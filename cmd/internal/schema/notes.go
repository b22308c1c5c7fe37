package schema

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"strings"
)

// ReadNotes returns the doc comments of the fields of all structs in the
// packages of the module at root, by "package path.Type.Field".
func ReadNotes(root, module string, packages []string) (map[string]string, error) {
	notes := make(map[string]string)
	for _, in := range packages {
		dir := filepath.Join(root, filepath.FromSlash(in))
		files, err := os.ReadDir(dir)
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			if !strings.HasSuffix(file.Name(), ".go") || strings.HasSuffix(file.Name(), "_test.go") {
				continue
			}
			if err := readFile(filepath.Join(dir, file.Name()), path.Join(module, in), notes); err != nil {
				return nil, err
			}
		}
	}
	return notes, nil
}

func readFile(file, in string, notes map[string]string) error {
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
	if err != nil {
		return fmt.Errorf("read the comments: %w", err)
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok {
			return true
		}
		if s, ok := spec.Type.(*ast.StructType); ok {
			for _, f := range s.Fields.List {
				for _, name := range f.Names {
					notes[in+"."+spec.Name.Name+"."+name.Name] = oneLine(f.Doc.Text())
				}
			}
		}
		return false
	})
	return nil
}

func oneLine(comment string) string { return strings.Join(strings.Fields(comment), " ") }

// fieldName is the name under which ReadNotes has the comment of a field: that
// of the struct which declares it, for one that stands in an inline block.
func fieldName(t reflect.Type, index []int) string {
	for _, i := range index[:len(index)-1] {
		t = t.Field(i).Type
	}
	return t.PkgPath() + "." + t.Name() + "." + t.Field(index[len(index)-1]).Name
}
