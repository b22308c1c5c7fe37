// Package report writes what a simulation found as one HTML file, for whoever
// has to decide and was not there.
//
// The file is a letter, not a dashboard: the verdict in one sentence first,
// then what supports it, then what it rests on. It loads nothing, opens without
// a network and from an email, reads with scripts off, prints, and is the same
// bytes for the same result. Behind each chart are its numbers as a table. What
// scripts add is comfort: values under the pointer, buttons that copy.
//
// Names in a scenario are anybody's text. They reach the page through
// html/template alone, charts included (package draw holds marks, no markup),
// and a policy in the page's head lets no script run but its own, nor anything
// be loaded, should that ever fail.
//
// What it does not do: it judges nothing. Verdicts, intervals and checks are
// those of sim.Result; where the page averages (a chart has no room for four
// thousand points) it says over what.
package report

import (
	_ "embed" // for the page
	"html/template"
	"io"

	"github.com/kalan-go/kalan/sim"
)

// Options are what a report says beside the result.
type Options struct {
	// Command is the command line that plays the same again, word by word. nil
	// leaves it out.
	Command []string
	// Version is that of the program; may be left out.
	Version string
}

var (
	//go:embed page.gohtml
	pageText string
	//go:embed parts.gohtml
	partsText string
	//go:embed style.css
	style string
	//go:embed script.js
	script string
)

var pageTemplate = template.Must(template.Must(template.New("page").Funcs(template.FuncMap{
	"policy": func() string { return contentPolicy },
	"style":  func() template.CSS { return template.CSS(style) },
	"script": func() template.JS { return template.JS(script) },
}).Parse(pageText)).Parse(partsText))

// Write writes the report of a result.
func Write(w io.Writer, r *sim.Result, o Options) error {
	p, err := newPage(r, o)
	if err != nil {
		return err
	}
	return pageTemplate.Execute(w, p)
}
