package config

import (
	"strings"

	"github.com/kalan-go/kalan/cmd/internal/strict"
	"github.com/kalan-go/kalan/policy"
)

// worthSaying leaves out the warnings about defaults: nobody wrote those. One
// that does not go with a value that was written is said there.
func worthSaying(doc *strict.Doc, found policy.Problems) policy.Problems {
	var said policy.Problems
	for _, p := range found {
		if p.Warning && !doc.Written(p.Path) {
			p = outgrown(p)
		}
		if !p.Warning || doc.Written(p.Path) {
			said = append(said, p)
		}
	}
	return said
}

// outgrown puts a warning about a breaker's time to the exchange that it is too
// short for. It names the key that is to be written.
func outgrown(p policy.Problem) policy.Problem {
	for _, key := range [...]string{"breaker.open", "breaker.half_open"} {
		if upstream, found := strings.CutSuffix(p.Path, "."+key); found {
			p.Path, p.Text = upstream+".exchange", key+": "+p.Text
			return p
		}
	}
	return p
}
