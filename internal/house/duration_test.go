package house

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const whyNoProducts = "a product of durations that wraps turns the longest wait into none, in the middle of the outage that made it long " +
	"(five public bug reports: O-08, O-09, O-10). Use policy/span: span.Mul, span.Scale; or compute with constants."

const whyNoMaps = "the order of a map differs from run to run, so a machine that ranges over one gives another answer to the same " +
	"configuration, verbs, times and seeds, and a simulation cannot be repeated. Keep a slice beside the map."

// A listed package is what the go command says of one.
type listed struct {
	ImportPath string
	Dir        string
	Export     string
	GoFiles    []string
	Standard   bool
	DepOnly    bool
}

// list asks the go command, in dir, for the packages that are meant, and the
// compiled form of everything that they import.
func list(dir string, patterns ...string) ([]listed, error) {
	command := exec.Command("go", "list", "-e", "-export", "-deps",
		"-json=ImportPath,Dir,Export,GoFiles,Standard,DepOnly")
	command.Args, command.Dir = append(command.Args, patterns...), dir
	var diagnosis bytes.Buffer
	command.Stderr = &diagnosis
	out, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("go list in %s: %w\n%s", dir, err, &diagnosis)
	}
	var all []listed
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var one listed
		if err := decoder.Decode(&one); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
}

// compiled returns an importer over what the go command has compiled.
func compiled(fset *token.FileSet, all []listed) types.Importer {
	exports := make(map[string]string)
	for _, p := range all {
		exports[p.ImportPath] = p.Export
	}
	return importer.ForCompiler(fset, "gc", func(target string) (io.ReadCloser, error) {
		if exports[target] == "" {
			return nil, fmt.Errorf("%s does not compile", target)
		}
		return os.Open(exports[target])
	})
}

// typed checks the types of files and returns what is known of them.
func typed(fset *token.FileSet, using types.Importer, target string, files []*ast.File) (*types.Info, error) {
	info := &types.Info{Types: make(map[ast.Expr]types.TypeAndValue)}
	config := types.Config{Importer: using}
	_, err := config.Check(target, fset, files, info)
	return info, err
}

// products reports every multiplication, or shift to the left, that gives a
// duration or an instant and is not a constant.
func products(info *types.Info, files []*ast.File, out *report) {
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BinaryExpr:
				value := info.Types[n]
				if grows(n.Op) && isTime(value.Type) && value.Value == nil {
					out.add(n.Pos(), "a product of type %s", value.Type)
				}
			case *ast.AssignStmt:
				if grows(n.Tok) && isTime(info.TypeOf(n.Lhs[0])) {
					out.add(n.Pos(), "a product of type %s", info.TypeOf(n.Lhs[0]))
				}
			}
			return true
		})
	}
}

// mapWalks reports every range over a map.
func mapWalks(info *types.Info, files []*ast.File, out *report) {
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			loop, ok := n.(*ast.RangeStmt)
			if !ok {
				return true
			}
			if _, ok := info.TypeOf(loop.X).Underlying().(*types.Map); ok {
				out.add(n.Pos(), "range over a map")
			}
			return true
		})
	}
}

func grows(op token.Token) bool {
	return op == token.MUL || op == token.SHL || op == token.MUL_ASSIGN || op == token.SHL_ASSIGN
}

func isTime(t types.Type) bool {
	named, ok := types.Unalias(t).(*types.Named)
	if !ok || named.Obj().Pkg() == nil {
		return false
	}
	in, name := named.Obj().Pkg().Path(), named.Obj().Name()
	return in == "time" && name == "Duration" || in == module+"/policy" && name == "Instant"
}

func TestNoDurationIsMultiplied(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles every module: left out of -short")
	}
	for _, dir := range append([]string{""}, nested...) {
		t.Run("module "+dir, func(t *testing.T) {
			all, err := list(filepath.Join(repository(), dir), "./...")
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range all {
				if !p.DepOnly && !p.Standard && len(p.GoFiles) > 0 {
					holdTypes(t, p, all)
				}
			}
		})
	}
}

// holdTypes holds the rules that need types in one package.
func holdTypes(t *testing.T, p listed, all []listed) {
	text := make(map[string]string)
	for _, name := range p.GoFiles {
		content, err := os.ReadFile(filepath.Join(p.Dir, name))
		if err != nil {
			t.Fatal(err)
		}
		dir := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
		text[filepath.ToSlash(filepath.Join(dir, name))] = string(content)
	}
	h := build(t, text)
	dir, files := h.rooms[0], []*ast.File{}
	for _, s := range dir.files {
		files = append(files, s.file)
	}
	info, err := typed(h.fset, compiled(h.fset, all), p.ImportPath, files)
	if err != nil {
		t.Errorf("%s: %v", p.ImportPath, err)
		return
	}
	if !dir.in("policy/span") {
		out := report{fset: h.fset}
		products(info, files, &out)
		complain(t, out.found, whyNoProducts)
	}
	if dir.in("policy") {
		out := report{fset: h.fset}
		mapWalks(info, files, &out)
		complain(t, out.found, whyNoMaps)
	}
}

func complain(t *testing.T, found []string, why string) {
	t.Helper()
	if len(found) > 0 {
		t.Errorf("%s\n\nWhy: %s", strings.Join(found, "\n"), why)
	}
}

func TestTheTypeRulesStillSee(t *testing.T) {
	const text = `-- x/x.go --
package x

import "time"

const allowed = 3 * time.Second

func products(n int, d time.Duration) {
	_ = time.Duration(n) * time.Millisecond
	d *= 2
	_ = d << 3
	_, _, _ = d/2, n*2, d+allowed
}

func walks(m map[string]int, s []int) {
	for range m {
	}
	for range s {
	}
}
`
	h := sample(t, text)
	files := []*ast.File{h.rooms[0].files[0].file}
	info, err := typed(h.fset, importer.ForCompiler(h.fset, "source", nil), "x", files)
	if err != nil {
		t.Fatal(err)
	}
	for name, check := range map[string]struct {
		rule  func(*types.Info, []*ast.File, *report)
		lines []string
	}{
		"products": {products, []string{"x/x.go:8:", "x/x.go:9:", "x/x.go:10:"}},
		"maps":     {mapWalks, []string{"x/x.go:15:"}},
	} {
		out := report{fset: h.fset}
		check.rule(info, files, &out)
		got := strings.Join(out.found, "\n")
		if len(out.found) != len(check.lines) {
			t.Errorf("%s: found\n%s\nwant those at %v", name, got, check.lines)
		}
		for _, line := range check.lines {
			if !strings.Contains(got, line) {
				t.Errorf("%s: nothing found at %s", name, line)
			}
		}
	}
}
