package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const module = "github.com/kalan-go/kalan"

// nested are the modules below the root that have a go.mod of their own.
var nested = []string{"adapters", "bench", "cmd"}

// A source is one parsed Go file.
type source struct {
	path string // from the root of the repository, with slashes
	file *ast.File
	text string
}

func (s *source) isTest() bool { return strings.HasSuffix(s.path, "_test.go") }

// imports returns the import paths of the file and the local names they have.
func (s *source) imports() map[string]string {
	names := make(map[string]string)
	for _, spec := range s.file.Imports {
		target, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		name := path.Base(strings.TrimSuffix(target, "/v2"))
		if spec.Name != nil {
			name = spec.Name.Name
		}
		names[target] = name
	}
	return names
}

// local returns the name under which the file knows the package, "" when it
// does not import it.
func (s *source) local(target string) string { return s.imports()[target] }

// A room is one directory of Go files: a package and its tests.
type room struct {
	dir   string // "" is the root of the repository
	files []*source
}

// module returns the nested module that the room is part of, "" for the root.
func (r *room) module() string {
	first, _, _ := strings.Cut(r.dir, "/")
	if slices.Contains(nested, first) {
		return first
	}
	return ""
}

// in reports whether the room is dir or below it.
func (r *room) in(dir string) bool {
	return r.dir == dir || strings.HasPrefix(r.dir, dir+"/")
}

// code returns the files that are not tests.
func (r *room) code() []*source {
	return slices.DeleteFunc(slices.Clone(r.files), (*source).isTest)
}

// tests returns the files that are.
func (r *room) tests() []*source {
	return slices.DeleteFunc(slices.Clone(r.files), func(s *source) bool { return !s.isTest() })
}

// isMain reports whether the room is a command.
func (r *room) isMain() bool {
	code := r.code()
	return len(code) > 0 && code[0].file.Name.Name == "main"
}

// isPublic reports whether others can import the room.
func (r *room) isPublic() bool {
	return len(r.code()) > 0 && !r.isMain() && !slices.Contains(strings.Split(r.dir, "/"), "internal") && r.module() != "bench"
}

// A house is every room, and the positions in them.
type house struct {
	fset  *token.FileSet
	rooms []*room
}

// build parses the files, given as path and text, into rooms. Files that do not
// parse are the compiler's business and fail the test at once.
func build(t testing.TB, files map[string]string) *house {
	t.Helper()
	h := &house{fset: token.NewFileSet()}
	byDir := make(map[string]*room)
	paths := make([]string, 0, len(files))
	for name := range files {
		paths = append(paths, name)
	}
	slices.Sort(paths)
	for _, name := range paths {
		file, err := parser.ParseFile(h.fset, name, files[name], parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		dir := strings.TrimPrefix(path.Dir(name), ".")
		if byDir[dir] == nil {
			byDir[dir] = &room{dir: dir}
			h.rooms = append(h.rooms, byDir[dir])
		}
		byDir[dir].files = append(byDir[dir].files, &source{name, file, files[name]})
	}
	return h
}

// whole is the repository, read once for all rules.
var whole = sync.OnceValues(func() (map[string]string, error) {
	root, files := repository(), make(map[string]string)
	err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && file != root && hidden(entry.Name()):
			return filepath.SkipDir
		case entry.IsDir() || !strings.HasSuffix(file, ".go"):
			return nil
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, file)
		files[filepath.ToSlash(name)] = string(text)
		return err
	})
	return files, err
})

// hidden reports whether the go command ignores a directory of this name.
func hidden(name string) bool {
	return name == "testdata" || name == "bin" || len(name) > 1 && (name[0] == '.' || name[0] == '_')
}

// repository returns the root of the repository: tests run in their package's
// directory, which is internal/house.
func repository() string { return filepath.Join("..", "..") }

// standing returns the house as it stands.
func standing(t testing.TB) *house {
	t.Helper()
	files, err := whole()
	if err != nil {
		t.Fatal(err)
	}
	if files["policy/policy.go"] == "" {
		t.Fatal("the rules see no repository: mend repository() in internal/house/tree_test.go")
	}
	return build(t, files)
}

// sample returns a house of a few files, written one after the other, each
// after a line "-- path --".
func sample(t testing.TB, text string) *house {
	t.Helper()
	files := make(map[string]string)
	var name string
	for line := range strings.Lines(text) {
		if title, ok := strings.CutPrefix(line, "-- "); ok {
			name = strings.TrimSuffix(strings.TrimSpace(title), " --")
			continue
		}
		files[name] += line
	}
	return build(t, files)
}
