package report

import (
	"strings"

	"github.com/kalan-go/kalan/cmd/internal/report/draw"
)

// A sentence is text with names in it, which the page sets apart: they are
// somebody's, and may say anything.
type sentence []phrase

type phrase struct {
	Text   string
	IsName bool
}

// longestName is how much of a name stands in a sentence.
const longestName = 60

func (s *sentence) say(text string)  { *s = append(*s, phrase{Text: text}) }
func (s *sentence) name(name string) { *s = append(*s, phrase{named(name, longestName), true}) }

// names says several names, or how many there are where they would drown what
// is said of them.
func (s *sentence) names(all []string) {
	const most = 3
	if len(all) > most {
		s.say(plural(len(all), "arm"))
		return
	}
	for i, name := range all {
		switch {
		case i > 0 && i == len(all)-1:
			s.say(" and ")
		case i > 0:
			s.say(", ")
		}
		s.name(name)
	}
}

// String returns the sentence without any setting apart.
func (s sentence) String() string {
	var text strings.Builder
	for _, p := range s {
		if p.IsName {
			text.WriteString("“" + p.Text + "”")
			continue
		}
		text.WriteString(p.Text)
	}
	return text.String()
}

// named returns a name as it is shown: one that is empty or invisible is said
// to be.
func named(name string, longest int) string {
	if name = strings.TrimSpace(draw.Cut(strings.ToValidUTF8(name, "�"), longest)); name == "" {
		return "(no name)"
	}
	return name
}
