package overload

import (
	"fmt"
	"strings"
)

// highlights are the figures of a summary, in order, and what it calls them.
var highlights = []struct{ in, figure, as string }{
	{"overload", "4x: goodput", "four times the load: goodput"},
	{"retries", "4x with retries: goodput", "the same, and everybody tries three times more"},
	{"brown-out", "during: goodput", "the upstream takes four times as long: goodput of what it then can"},
	{"deadlines", "80 ms class served", "80 and 400 ms of patience mixed at 2x: of the impatient half, 50 % at best"},
	{"priority", "critical served", "2x, a fifth of it critical: critical served"},
	{"tenants", "quiet served", "2x, nine tenths from one tenant: the quiet one served"},
	{"service", "down: full after", "a quarter of the capacity is left: full goodput of it after"},
	{"service", "up: full after", "and all of it again: after"},
	{"light", "p50 added at .5x", "half the load: added to the median"},
}

// Summary is a Markdown table of the figures that say most.
func (t *Table) Summary() string {
	var b strings.Builder
	fmt.Fprintf(&b, "| | mark | %s |\n| --- | ---: |%s\n", strings.Join(t.subjects, " | "), strings.Repeat(" ---: |", len(t.subjects)))
	for _, h := range highlights {
		for _, r := range t.rows {
			if r.in == h.in && r.figure.Name == h.figure {
				fmt.Fprintf(&b, "| %s | %s | %s |\n", h.as, r.figure.mark(), strings.Join(t.cells(r), " | "))
			}
		}
	}
	return b.String()
}

// Put replaces what stands between the two lines of a document that mark the
// place of a table.
func Put(document, text string) (string, error) {
	const from, to = "<!-- overload: made by scripts/bench-overload.sh -->\n", "<!-- /overload -->\n"
	before, rest, found := strings.Cut(document, from)
	_, after, closed := strings.Cut(rest, to)
	if !found || !closed {
		return "", fmt.Errorf("has no lines %q and %q; put them where the table belongs", from, to)
	}
	return before + from + text + to + after, nil
}
