package house

import (
	"fmt"
	"go/ast"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/kalan-go/kalan/internal/golden"
)

const scenarioHead = `# The scenario file

` + "`kalan simulate FILE`" + ` reads this file. Its ` + "`kind`" + ` says which of two it is: ` + "`events`" + `, a system of services under load and trouble, or ` + "`walk`" + `, requests
along a call chain, one at a time. A key that is missing means its default; an unknown or repeated key is an error, and all mistakes are named at once
with their places. Durations are written ` + "`250ms`, `1m30s`" + `, ranges ` + "`2s-5s`" + `, rates as requests a second, shares from 0 to 1. Where a description
says that a negative value means none, the file says ` + "`0`" + `. The scenarios of this repository (` + "`scenarios/*.yaml`" + `) are examples of nearly every key.

` + "`kalan simulate --help`" + ` says what is printed, and the comment of package ` + "`sim`" + ` how a verdict comes about. The run ends with 0 when all expectations
hold, 1 when one does not, 2 when a file is wrong, 130 when it is interrupted.

This page is made from the comments in the source: change them there and run
` + "`go test ./internal/house -run ScenarioPage -update`" + `.
`

// The reference of scenarios is what the fields' comments say, each block once.
func TestTheScenarioPageIsWhatTheFieldsSay(t *testing.T) {
	p := scenarioPager{pager: pager{house: standing(t)}, at: map[string]string{}}
	p.out.WriteString(scenarioHead)
	p.out.WriteString("\n# kind: events\n")
	p.block("sim", "Scenario", "")
	p.listing("sim", "Claim", "Expectations")
	p.verdicts()
	p.laws()
	p.out.WriteString("\n# kind: walk\n")
	p.block("sim/walk", "Scenario", "")
	golden.File(t, filepath.Join(repository(), "docs", "scenarios.md"), p.out.String())
}

// A scenarioPager writes every type once. What is a block of kalan.yaml too is
// left to that page.
type scenarioPager struct {
	pager
	at   map[string]string // by type: where it is described
	todo []func()
}

// texts are what those types look like in the file that read themselves from a
// text.
var texts = map[string]string{
	"sim.Target": "`service` or `service/route`", "sim.Claim": "[expectation](#expectations)", "sim/random.Law": "[law](#how-long-something-takes)",
	"sim.Order": "`oldest` or `newest`", "sim.Trouble": "stall, latency, errors, spike, flush, pause or restart",
	"uint8": "whole number",
}

// block writes a struct's keys, and after them the structs in it that have not
// been written yet.
func (p *scenarioPager) block(dir, name, path string) {
	at, ok := p.find(dir, name)
	if !ok {
		fmt.Fprintf(&p.out, "\n(no type %s in %s)\n", name, dir)
		return
	}
	title := "`" + path + "`"
	if path == "" {
		title = "The top of a " + dir[strings.LastIndex(dir, "/")+1:] + " scenario"
	}
	p.at[dir+"."+name] = path
	fmt.Fprintf(&p.out, "\n## %s\n\n%s\n\n| key | value | meaning |\n| --- | --- | --- |\n", title, oneLine(at.doc))
	p.keys(at, path)
	todo := p.todo
	p.todo = nil
	for _, write := range todo {
		write()
	}
}

func (p *scenarioPager) keys(at place, path string) {
	for _, f := range at.spec.Type.(*ast.StructType).Fields.List {
		key, inline := keyOf(f)
		if key == "" && !inline {
			continue
		}
		dir, name, shape := p.kind(at, f.Type)
		if inline {
			p.inline(dir, name, path)
			continue
		}
		below := strings.TrimPrefix(path+"."+key, ".")
		fmt.Fprintf(&p.out, "| `%s` | %s | %s |\n", key, p.value(at, f, dir, name, shape, below), oneLine(f.Doc.Text()))
	}
}

// inline writes the keys of an embedded struct, or where they are described.
func (p *scenarioPager) inline(dir, name, path string) {
	if inner, ok := p.find(dir, name); ok && strings.HasPrefix(dir, "sim") {
		p.keys(inner, path)
		return
	}
	p.out.WriteString("| `exchange`, `checkout`, `limit`, `room`, `rate`, `breaker`, `throttle`, `retry`, `budget`, `cancels` and more | | as those of an [upstream](configuration.md#upstreamsname), with its defaults |\n")
}

// value says how a field is written, and sees to it that a block is described.
func (p *scenarioPager) value(at place, f *ast.Field, dir, name, shape, below string) string {
	many := strings.HasPrefix(shape, "list of ")
	if name == "" {
		if text, ok := texts[typeOf(at, f.Type)]; ok {
			shape = text
			if many {
				shape = "list of " + strings.TrimSuffix(text, "s")
			}
		}
		return shape
	}
	what := "block"
	switch {
	case f.Tag != nil && strings.Contains(f.Tag.Value, "keyed:"):
		below, what = below+".<name>", "block for each name"
	case many:
		below, what = below+"[]", "list of blocks"
	}
	key := dir + "." + name
	switch where, known := p.at[key]; {
	case !strings.HasPrefix(dir, "sim"):
		return what + ", as the `" + strings.ToLower(dir[strings.LastIndex(dir, "/")+1:]) + "` of an [upstream](configuration.md)"
	case known:
		return what + ", as `" + where + "`"
	}
	p.at[key] = below
	p.todo = append(p.todo, func() { p.block(dir, name, below) })
	return what
}

// typeOf names a type as the texts do, by the folder that declares it.
func typeOf(at place, e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return typeOf(at, e.X)
	case *ast.ArrayType:
		return typeOf(at, e.Elt)
	case *ast.SelectorExpr:
		return strings.TrimPrefix(importOf(at.source, e.X.(*ast.Ident).Name), module+"/") + "." + e.Sel.Name
	case *ast.Ident:
		if _, basic := texts[e.Name]; basic {
			return e.Name
		}
		return at.room.dir + "." + e.Name
	}
	return ""
}

// listing writes a type's comment as it stands: its lines are examples.
func (p *scenarioPager) listing(dir, name, title string) {
	at, ok := p.find(dir, name)
	if !ok {
		fmt.Fprintf(&p.out, "\n(no type %s in %s)\n", name, dir)
		return
	}
	fmt.Fprintf(&p.out, "\n## %s\n", title)
	p.asMarkdown(at.doc)
}

// asMarkdown writes a comment with its listings as code.
func (p *scenarioPager) asMarkdown(doc string) {
	for paragraph := range strings.SplitSeq(strings.TrimSpace(doc), "\n\n") {
		if strings.HasPrefix(paragraph, "\t") {
			lines := strings.Split(paragraph, "\n")
			for i := range lines {
				lines[i] = strings.TrimPrefix(lines[i], "\t")
			}
			fmt.Fprintf(&p.out, "\n```\n%s\n```\n", strings.Join(lines, "\n"))
			continue
		}
		fmt.Fprintf(&p.out, "\n%s\n", strings.NewReplacer("[", "", "]", "").Replace(oneLine(paragraph)))
	}
}

// verdicts writes what the verdicts' constants say.
func (p *scenarioPager) verdicts() {
	fmt.Fprintf(&p.out, "\n## Verdicts\n\n")
	for _, r := range p.house.rooms {
		for _, s := range r.code() {
			for _, d := range s.file.Decls {
				if group, ok := d.(*ast.GenDecl); ok && r.dir == "sim" && s.path == "sim/verdict.go" && group.Tok == token.CONST {
					p.constants(group)
				}
			}
		}
	}
}

func (p *scenarioPager) constants(group *ast.GenDecl) {
	for _, spec := range group.Specs {
		v := spec.(*ast.ValueSpec)
		if text := oneLine(v.Doc.Text()); v.Names[0].IsExported() && text != "" {
			name, rest, _ := strings.Cut(text, ": ")
			fmt.Fprintf(&p.out, "- `%s`: %s\n", inWords(name), rest)
		}
	}
}

// inWords writes SlowDrain as it stands in an expectation: slow drain.
func inWords(name string) string {
	var out strings.Builder
	for i, letter := range name {
		if unicode.IsUpper(letter) && i > 0 {
			out.WriteByte(' ')
		}
		out.WriteRune(unicode.ToLower(letter))
	}
	return out.String()
}

// laws writes what the comment of package random says of texts.
func (p *scenarioPager) laws() {
	p.out.WriteString("\n## How long something takes\n")
	for _, r := range p.house.rooms {
		for _, s := range r.code() {
			if r.dir == "sim/random" && s.file.Doc != nil {
				if _, texts, ok := strings.Cut(s.file.Doc.Text(), "# Laws\n"); ok {
					texts, _, _ = strings.Cut(texts, "\n# ")
					p.asMarkdown(texts)
				}
			}
		}
	}
}
