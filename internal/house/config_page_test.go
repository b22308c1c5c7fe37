package house

import (
	"fmt"
	"go/ast"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/kalan-go/kalan/internal/golden"
)

const pageHead = `# The configuration file

` + "`kalan serve --config FILE`" + ` reads this file. A key that is missing means its default, and so does a missing block; an unknown or repeated key is an
error, as is a duration without a unit. Durations are written ` + "`250ms`, `1m30s`" + `; a range is written ` + "`2s-5s`" + `. Where a description
says that a negative value means none, the file says ` + "`0`" + `. The smallest useful file names one upstream and one route.

This page is made from the comments in the source: change them there and run
` + "`go test ./internal/house -run ConfigurationPage -update`" + `.
`

// The reference is what the fields' comments say, so that it cannot say
// anything else than the code does.
func TestTheConfigurationPageIsWhatTheFieldsSay(t *testing.T) {
	p := pager{house: standing(t)}
	p.out.WriteString(pageHead)
	p.section("internal/settings", "File", "")
	golden.File(t, filepath.Join(repository(), "docs", "configuration.md"), p.out.String())
}

// A pager writes the reference of a configuration type and of those in it.
type pager struct {
	house *house
	out   strings.Builder
}

// A place is a declared type: where it is and what it is.
type place struct {
	room   *room
	source *source
	spec   *ast.TypeSpec
	doc    string
}

// section writes the keys of the struct, and then the sections of the structs
// in it.
func (p *pager) section(dir, name, path string) {
	at, ok := p.find(dir, name)
	if !ok {
		fmt.Fprintf(&p.out, "\n(no type %s in %s)\n", name, dir)
		return
	}
	title := "`" + path + "`"
	if path == "" {
		title = "The top of the file"
	}
	fmt.Fprintf(&p.out, "\n## %s\n\n%s\n\n| key | value | meaning |\n| --- | --- | --- |\n", title, oneLine(at.doc))
	var later []func()
	p.rows(at, path, &later)
	for _, section := range later {
		section()
	}
}

// rows writes one line a key; the keys of an embedded struct stand among them.
func (p *pager) rows(at place, path string, later *[]func()) {
	fields := at.spec.Type.(*ast.StructType).Fields.List
	for _, f := range fields {
		key, inline := keyOf(f)
		if key == "" && !inline {
			continue
		}
		dir, name, shape := p.kind(at, f.Type)
		if inline {
			if inner, ok := p.find(dir, name); ok {
				p.rows(inner, path, later)
			}
			continue
		}
		below := strings.TrimPrefix(path+"."+key, ".")
		value := shape
		if name != "" {
			value = "block"
			switch {
			case f.Tag != nil && strings.Contains(f.Tag.Value, "keyed:"):
				below, value = below+".<name>", "block for each name"
			case strings.HasPrefix(shape, "list"):
				below, value = below+"[]", "list of blocks"
			}
			*later = append(*later, func() { p.section(dir, name, below) })
		}
		fmt.Fprintf(&p.out, "| `%s` | %s | %s |\n", key, value, oneLine(f.Doc.Text()))
	}
}

// kind says how a value of the type is written. When it is a block of keys,
// dir and name say which.
func (p *pager) kind(at place, e ast.Expr) (dir, name, shape string) {
	switch e := e.(type) {
	case *ast.StarExpr:
		return p.kind(at, e.X)
	case *ast.ArrayType:
		dir, name, shape = p.kind(at, e.Elt)
		return dir, name, "list of " + shape
	case *ast.MapType:
		_, _, shape = p.kind(at, e.Value)
		return "", "", shape + " for each name"
	case *ast.Ident:
		if plain, ok := plainKinds[e.Name]; ok {
			return "", "", plain
		}
		return p.declared(at.room.dir, e.Name)
	case *ast.SelectorExpr:
		target := importOf(at.source, e.X.(*ast.Ident).Name)
		if plain, ok := plainKinds[target+"."+e.Sel.Name]; ok {
			return "", "", plain
		}
		return p.declared(strings.TrimPrefix(target, module+"/"), e.Sel.Name)
	}
	return "", "", "text"
}

var plainKinds = map[string]string{
	"string": "text", "bool": "true or false", "int": "whole number", "uint64": "whole number", "float64": "number",
	"time.Duration": "duration", module + "/policy/span.Range": "range",
}

// declared says how a type of the house is written: a struct whose fields have
// keys is a block, and everything else reads itself from a text.
func (p *pager) declared(dir, name string) (string, string, string) {
	at, ok := p.find(dir, name)
	if !ok {
		return "", "", "text"
	}
	if fields, ok := at.spec.Type.(*ast.StructType); ok {
		for _, f := range fields.Fields.List {
			if key, inline := keyOf(f); key != "" || inline {
				return dir, name, "block"
			}
		}
	}
	return "", "", "text"
}

func (p *pager) find(dir, name string) (place, bool) {
	for _, r := range p.house.rooms {
		if r.dir != dir {
			continue
		}
		for _, s := range r.code() {
			for _, d := range s.file.Decls {
				group, ok := d.(*ast.GenDecl)
				if !ok {
					continue
				}
				for _, spec := range group.Specs {
					if spec, ok := spec.(*ast.TypeSpec); ok && spec.Name.Name == name {
						return place{r, s, spec, group.Doc.Text()}, true
					}
				}
			}
		}
	}
	return place{}, false
}

// keyOf returns the key under which a field stands in the file, "" when it
// does not, and whether its own fields stand there instead.
func keyOf(f *ast.Field) (key string, inline bool) {
	if f.Tag == nil {
		return "", false
	}
	tag, _ := strconv.Unquote(f.Tag.Value)
	key, option, _ := strings.Cut(reflect.StructTag(tag).Get("yaml"), ",")
	if key == "-" {
		key = ""
	}
	return key, option == "inline"
}

func importOf(s *source, local string) string {
	for target, name := range s.imports() {
		if name == local {
			return target
		}
	}
	return ""
}

// oneLine puts a comment into a cell of a table.
func oneLine(comment string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(comment), " "), "|", `\|`)
}
