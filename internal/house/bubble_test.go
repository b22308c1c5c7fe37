package house

import "go/ast"

// regions are pieces of source.
type regions []ast.Node

func (rs regions) contain(n ast.Node) bool {
	for _, r := range rs {
		if r.Pos() <= n.Pos() && n.End() <= r.End() {
			return true
		}
	}
	return false
}

// bubbles returns the parts of a room's tests that run inside a synctest
// bubble: the function literals that synctest.Test is given, and the functions
// that nothing else mentions than such parts.
func bubbles(r *room) regions {
	var inside regions
	mentions := make(map[string][]ast.Node)
	var functions []*ast.FuncDecl
	for _, s := range r.tests() {
		inside = append(inside, literals(s)...)
		ast.Inspect(s.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				functions = append(functions, n)
			case *ast.Ident:
				mentions[n.Name] = append(mentions[n.Name], n)
			}
			return true
		})
	}
	for grown := len(inside) > 0; grown; {
		grown = false
		for _, f := range functions {
			if !inside.contain(f) && onlyInside(f, mentions[f.Name.Name], inside) {
				inside, grown = append(inside, f), true
			}
		}
	}
	return inside
}

// onlyInside reports whether the function is mentioned, and nowhere else than
// in the regions and in itself.
func onlyInside(f *ast.FuncDecl, mentions []ast.Node, inside regions) bool {
	called := false
	for _, m := range mentions {
		switch {
		case f.Pos() <= m.Pos() && m.End() <= f.End(): // its name, or recursion
		case inside.contain(m):
			called = true
		default:
			return false
		}
	}
	return called
}

// literals returns the function literals that the file gives to synctest.Test.
func literals(s *source) regions {
	var found regions
	name := s.local("testing/synctest")
	ast.Inspect(s.file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || name == "" {
			return name != ""
		}
		sel, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || !isIdent(sel.X, name) || sel.Sel.Name != "Test" {
			return true
		}
		for _, arg := range call.Args {
			if literal, ok := arg.(*ast.FuncLit); ok {
				found = append(found, literal)
			}
		}
		return true
	})
	return found
}
