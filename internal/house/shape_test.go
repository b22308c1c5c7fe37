package house

import (
	"go/ast"
	"go/token"
	"path"
	"strings"
)

const (
	longestFunction = 70
	longestFile     = 400
	// mostExports is where the tree stands; the house style asks for about
	// fifteen, and a new policy should need no more than that.
	mostExports = 20
)

var shapeRules = []rule{{
	name: "every package says what it is for",
	why: "the package comment is the first thing a newcomer reads, and often the only one: what it is, for whom, when not, how it " +
		"decides, where that comes from, what its limits are.",
	check: func(r *room, out *report) {
		for _, s := range r.code() {
			if s.file.Doc != nil {
				return
			}
		}
		if len(r.code()) > 0 {
			out.in(r, "no package comment")
		}
	},
	bad:  []string{"-- x/x.go --\npackage x\n"},
	good: "-- x/x.go --\n// Package x does what, for whom.\npackage x\n-- x/y.go --\npackage x\n",
}, {
	name: "every public package shows an example",
	why:  "an example is the one piece of documentation that the compiler reads. Put a func Example with an Output comment into example_test.go.",
	check: func(r *room, out *report) {
		if !r.isPublic() {
			return
		}
		for _, s := range r.tests() {
			if path.Base(s.path) == "example_test.go" && declaresExample(s) {
				return
			}
		}
		out.in(r, "no example in example_test.go")
	},
	bad: []string{
		"-- x/x.go --\npackage x\n",
		"-- x/x.go --\npackage x\n-- x/example_test.go --\npackage x_test\n",
		"-- adapters/kalanx/x.go --\npackage kalanx\n",
	},
	good: "-- x/x.go --\npackage x\n-- x/example_test.go --\npackage x_test\nfunc Example() {}\n" +
		"-- internal/y/y.go --\npackage y\n-- cmd/z/z.go --\npackage main\n-- adapters/z_test.go --\npackage z\n",
}, {
	name: "a function fits a screen, a file one sitting",
	why: "what does not fit on a screen is not read, it is scrolled past. Name a part of it and move it out: 70 lines a function and " +
		"400 a file are the fence, ten and 150 the aim.",
	check: func(r *room, out *report) {
		for _, s := range r.files {
			if !ast.IsGenerated(s.file) {
				tooLong(s, out)
			}
		}
	},
	bad: []string{
		"-- x/x.go --\npackage x\nfunc f() {\n" + strings.Repeat("f()\n", longestFunction) + "}\n",
		"-- x/x.go --\npackage x\n" + strings.Repeat("\n", longestFile),
	},
	good: "-- x/x.go --\npackage x\nfunc f() {\n" + strings.Repeat("f()\n", longestFunction-2) + "}\n",
}, {
	name: "a policy exports little",
	why: "an export is a promise, and a machine with forty names has two machines in it. Unexport what only its own package needs, or " +
		"split it. A name is a type, a function or a variable; the constants of an exported type come with it, and so do methods.",
	check: func(r *room, out *report) {
		if names := exports(r); r.in("policy") && len(names) > mostExports {
			out.in(r, "%d exported names, at most %d: %s", len(names), mostExports, strings.Join(names, " "))
		}
	},
	bad:  []string{"-- policy/x/x.go --\npackage x\nvar " + manyNames(mostExports+1, ",") + " int\n"},
	good: "-- policy/x/x.go --\npackage x\ntype T int\nconst (\nOne T = iota\n" + manyNames(mostExports+1, "\n") + "\n)\nfunc (T) Method() {}\n",
}}

// manyNames returns n exported names.
func manyNames(n int, between string) string {
	names := make([]string, n)
	for i := range names {
		names[i] = "N" + strings.Repeat("x", i)
	}
	return strings.Join(names, between)
}

func declaresExample(s *source) bool {
	for _, d := range s.file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Example") {
			return true
		}
	}
	return false
}

func tooLong(s *source, out *report) {
	if n := strings.Count(s.text, "\n"); n > longestFile {
		out.add(s.file.Package, "%d lines in one file", n)
	}
	for _, d := range s.file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		if n := 1 + strings.Count(between(out.fset, s, f), "\n"); n > longestFunction {
			out.add(f.Pos(), "%s has %d lines", f.Name.Name, n)
		}
	}
}

// between returns the text of a node.
func between(fset *token.FileSet, s *source, n ast.Node) string {
	return s.text[fset.Position(n.Pos()).Offset:fset.Position(n.End()).Offset]
}

// exports returns the names that the code of the room promises to others.
func exports(r *room) []string {
	var names []string
	for _, s := range r.code() {
		for _, d := range s.file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil && d.Name.IsExported() {
					names = append(names, d.Name.Name)
				}
			case *ast.GenDecl:
				names = append(names, exportsOf(d)...)
			}
		}
	}
	return names
}

// exportsOf returns the names of one declaration. A constant block whose first
// constant has a type is an enumeration: its names come with the type.
func exportsOf(d *ast.GenDecl) []string {
	var names []string
	for i, spec := range d.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			if spec.Name.IsExported() {
				names = append(names, spec.Name.Name)
			}
		case *ast.ValueSpec:
			if i == 0 && d.Tok == token.CONST && spec.Type != nil {
				return nil
			}
			for _, name := range spec.Names {
				if name.IsExported() {
					names = append(names, name.Name)
				}
			}
		}
	}
	return names
}
