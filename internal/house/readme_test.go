package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The programs in the documents compile, so that what is copied from them does.
func TestTheProgramsInTheDocumentsCompile(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the library: left out of -short")
	}
	all, err := list(repository(), "./...", "log", "net/http", "os/signal")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	guides, err := filepath.Glob(filepath.Join(repository(), "docs", "guides", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(guides, filepath.Join(repository(), "README.md")) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, program := range programs(string(text)) {
			seen++
			fset := token.NewFileSet()
			file, err := parser.ParseFile(fset, name, program, parser.SkipObjectResolution)
			if err == nil {
				_, err = typed(fset, compiled(fset, all), "main", []*ast.File{file})
			}
			if err != nil {
				t.Errorf("%s shows a program that does not compile: %v", name, err)
			}
		}
	}
	if seen == 0 {
		t.Error("no document shows a program")
	}
}

// programs returns the blocks of Go in a document.
func programs(document string) []string {
	var found []string
	for _, block := range strings.Split("\n"+document, "\n```go\n")[1:] {
		program, _, _ := strings.Cut(block, "\n```\n")
		found = append(found, program+"\n")
	}
	return found
}
