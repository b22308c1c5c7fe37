package demo

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/kalan-go/kalan/cmd/internal/openloop"
)

// heading says what the columns of the progress lines are.
func heading(w io.Writer, a *account) {
	fmt.Fprintf(w, "%6s", "second")
	for _, name := range a.bridges {
		fmt.Fprintf(w, "  %-14s", name)
	}
	fmt.Fprintln(w, "(answered in time, of those due)")
}

// progress writes how the callers of one second fared, as one line that reads
// as well in a log file as on a terminal.
func progress(w io.Writer, a *account, n int) {
	fmt.Fprintf(w, "%6d", n+1)
	for i := range a.bridges {
		inTime, due := a.second(i, n)
		fmt.Fprintf(w, "  %-7s %3d/%-2d", bar(inTime, due), inTime, due)
	}
	if n == int(a.hangs/time.Second) {
		fmt.Fprintf(w, "  <- %s hangs", a.bridges[0])
	}
	fmt.Fprintln(w)
}

// bar draws a share in six characters.
func bar(part, whole int) string {
	const width = 6
	filled := (part*width + whole/2) / max(1, whole)
	return strings.Repeat("#", filled) + strings.Repeat(".", width-filled)
}

// table writes what became of the callers of each bridge.
func table(w io.Writer, a *account) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "\tin time\tlate\tfailed\trefused\tunsent\trefused in (p50, p99)\tonce open\tbreaker opened\t")
	for i, name := range a.bridges {
		tally := a.all(i)
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t%d\t", name, tally.Count(openloop.InTime), tally.Count(openloop.Late),
			tally.Count(openloop.Failed), tally.Count(openloop.Refused), tally.Count(openloop.Unsent))
		before, after := a.refusals(i, sinceDue)
		fmt.Fprintf(t, "%s\t%s\t%s\t\n", quickness(before), quickness(after), when(a.opening(i)))
	}
	_ = t.Flush() // errors of a terminal are nobody's to mend
	fmt.Fprintf(w, "99 of 100 requests were sent within %v of when they were due.\n", brief(a.lag()))
	if a.lag() > tooBusy {
		fmt.Fprintln(w, "That is late: something else keeps this machine busy, and the figures above tell of that too.")
	}
}

func quickness(refused *openloop.Tally) string {
	if refused.Total() == 0 {
		return "-"
	}
	return fmt.Sprintf("%v, %v", brief(refused.Quantile(openloop.Refused, .5)), brief(refused.Quantile(openloop.Refused, .99)))
}

func when(after time.Duration, opened bool) string {
	if !opened {
		return "no"
	}
	return fmt.Sprintf("%.1f s after the hang", after.Seconds())
}

// verdict writes which claims held, and returns those that did not.
func verdict(w io.Writer, claims []claim) []claim {
	var broken []claim
	for _, c := range claims {
		mark := "held  "
		if !c.held {
			mark = "BROKEN"
			broken = append(broken, c)
		}
		fmt.Fprintf(w, "  %s  %s\n", mark, c.text)
	}
	return broken
}
