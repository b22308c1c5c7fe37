package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/kalan-go/kalan/cmd/internal/strict"
	"github.com/kalan-go/kalan/internal/figure"
	"github.com/kalan-go/kalan/plan"
)

// write writes the plan of a file: a row a route, and what it means once for
// all routes of which the same is to be said.
func (p *filePlan) write(out io.Writer, name string, warnings strict.Problems) error {
	text := &strings.Builder{}
	fmt.Fprintf(text, "%s: what its promises leave to the attempts. Waits are counted at their longest; all times in ms.\n\n", name)
	p.writeRoutes(text)
	var said []string
	routes := make(map[string][]string)
	for _, r := range p.routes {
		words := r.words()
		if routes[words] == nil {
			said = append(said, words)
		}
		routes[words] = append(routes[words], r.Match.String())
	}
	for _, words := range said {
		fmt.Fprintf(text, "\n%s:\n%s", few(routes[words]), words)
	}
	if len(warnings) > 0 {
		fmt.Fprintf(text, "\n%s\n", warnings.Error())
	}
	_, err := io.WriteString(out, text.String())
	return err
}

func (p *filePlan) writeRoutes(out io.Writer) {
	columns := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(columns, "route\tupstream\tpromise\tat worst\tattempts\tfit\texchange\tafter late failures\tafter early ones\tdivided\t")
	for _, r := range p.routes {
		fmt.Fprintf(columns, "%s\t%s\t%s\t%s\t%d\t%d\t%s\t%s\t%s\t%s\t\n", r.Match, r.Upstream, orNone(r.says.Promise), inMs(r.Worst),
			r.Attempts, r.Fit, inMs(r.says.Exchange), row(r.Late), row(r.Early), orNone(r.Each))
	}
	columns.Flush()
}

// words is what is to be said of a route beside its row.
func (r routePlan) words() string {
	text := &strings.Builder{}
	fmt.Fprintf(text, "  %s%s.\n", r.sum(), r.compared())
	switch {
	case r.Fit == r.Attempts:
	case r.Fit == 0:
		fmt.Fprintf(text, "  Not one attempt fits. For all to fit, write %v.\n", r.instead())
	default:
		fmt.Fprintf(text, "  %d of %d fit; the rest is for failures that come early. For all to fit, however late the others fail, write %v.\n", r.Fit, r.Attempts, r.instead())
	}
	if r.Worst > r.Needs-r.says.Margin {
		fmt.Fprintf(text, "  A caller waits up to %v where the upstream asks for longer pauses (Retry-After, up to retry.cap).\n", r.Worst)
	}
	if r.Attempts == 1 {
		return text.String()
	}
	if r.says.Connect > 0 {
		fmt.Fprint(text, "  Repeated is only what was never sent: the method is not idempotent, and the route has no idempotency_key.\n")
	}
	switch h := r.says.Retry.Hedge; {
	case h.After > 0:
		fmt.Fprintf(text, "  A hedge goes out after %v and has %v.\n", h.After, r.Hedge)
	case !h.Off():
		fmt.Fprint(text, "  A hedge goes out at a measured time and only shortens this.\n")
	}
	return text.String()
}

// instead is what to write, in the words of the file.
func (r routePlan) instead() plan.Instead { return r.says.Instead(r.Division) }

// compared sets what the attempts need against the promise.
func (r routePlan) compared() string {
	switch spare := r.says.Promise - r.Needs; {
	case r.says.Promise == 0:
		return ", and nothing is promised: a caller without a deadline may wait for all of it"
	case spare >= 0:
		return fmt.Sprintf(", of %v promised: %v to spare", r.says.Promise, spare)
	}
	return fmt.Sprintf(", and %v is promised", r.says.Promise)
}

// sum is the arithmetic of what the attempts need, in the words of the file.
func (r routePlan) sum() string {
	var terms []string
	term := func(d time.Duration, times int, what string) {
		switch {
		case d > 0 && times > 1:
			terms = append(terms, fmt.Sprintf("%d x %v %s", times, d, what))
		case d > 0 && times == 1:
			terms = append(terms, fmt.Sprintf("%v %s", d, what))
		}
	}
	term(r.says.Margin, 1, "margin")
	term(r.says.Checkout, r.Attempts, "checkout")
	if connect := min(r.says.Connect, r.says.Exchange); connect > 0 {
		term(connect, r.Attempts-1, "connect")
		term(r.says.Exchange, 1, "exchange")
	} else {
		term(r.says.Exchange, r.Attempts, "exchange")
	}
	term(r.Pauses, 1, "backoff")
	if len(terms) > 1 {
		return fmt.Sprintf("%s = %v", strings.Join(terms, " + "), r.Needs)
	}
	return terms[0]
}

// shown is how many of a list are written out.
const shown = 4

// few names the first of the names, and counts the others.
func few(names []string) string {
	if rest := len(names) - shown; rest > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:shown], ", "), rest)
	}
	return strings.Join(names, ", ")
}

// row is what the first attempts have.
func row(left []time.Duration) string {
	var cells []string
	for _, d := range left {
		cells = append(cells, inMs(d))
	}
	return few(cells)
}

func inMs(d time.Duration) string { return figure.Short(milli(d), 1) }

func orNone(d time.Duration) string {
	if d == 0 {
		return "-"
	}
	return inMs(d)
}
