package config

import (
	"regexp"
	"strings"

	"github.com/kalan-go/kalan/cmd/internal/strict"
	"github.com/kalan-go/kalan/policy"
)

// unfinished are the keys that the file format has and this version cannot obey
// yet. They are refused by name: a limit that is written and not in force is
// worse than none. A feature that lands deletes its line. <name> is any name,
// [] any element; a key that is written as what switches it off passes.
var unfinished = []string{
	"upstreams.<name>.retry.hedge",
}

// forms are what the paths of unfinished keys look like.
var forms = func() (all []*regexp.Regexp) {
	expand := strings.NewReplacer(`<name>`, `("[^"]*"|[^."\[]+)`, `\[\]`, `\[\d+\]`)
	for _, key := range unfinished {
		all = append(all, regexp.MustCompile("^"+expand.Replace(regexp.QuoteMeta(key))+"$"))
	}
	return all
}()

// later refuses what is written and unfinished.
func later(doc *strict.Doc) policy.Problems {
	var found policy.Problems
	for _, path := range doc.Paths() {
		for _, form := range forms {
			if form.MatchString(path) && !passes(doc, path) {
				found = append(found, policy.Problem{Path: path, Text: "comes with a later version: remove the " + noun(path)})
			}
		}
	}
	return found
}

// passes reports whether a value asks for nothing that is missing: no rate, no
// hedging. Of the limits it is the other way round; `adaptive` is the zero value.
func passes(doc *strict.Doc, path string) bool {
	return doc.WrittenZero(path) != strings.HasSuffix(path, ".limit")
}

// noun is what stands at the path, as the reader sees it.
func noun(path string) string {
	if strings.ContainsAny(path, ".[") {
		return "key"
	}
	return "block"
}
