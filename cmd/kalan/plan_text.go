package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/kalan-go/kalan/internal/figure"
	"github.com/kalan-go/kalan/plan"
	"github.com/kalan-go/kalan/policy/span"
)

func writePlan(out io.Writer, q plan.Question, t plan.Table) error {
	text := &strings.Builder{}
	fmt.Fprintf(text, "Budget %v, gateway's own share %v: %v remain for the chain. A step usually takes %v.\n\n", q.Budget, q.Share, q.Budget-q.Share, q.Median)
	writeRows(text, t.Rows)
	fmt.Fprint(text, "\nDeepest chain whose timeout is not below the usual duration:")
	for i, d := range t.Deepest {
		fmt.Fprintf(text, "%s %s with %s", separator(i), count(d.Depth, "step"), count(d.Attempts, "attempt"))
	}
	fmt.Fprintf(text, ".\n\nThe same with a share of %v instead of %v:\n\n", span.Mul(q.Share, 2), q.Share)
	writeSensitivity(text, t)
	writeTimeouts(text, t.Timeouts)
	if len(t.Warnings) > 0 {
		fmt.Fprintln(text)
	}
	for _, w := range t.Warnings {
		fmt.Fprintf(text, "Warning: %s\n", w)
	}
	fmt.Fprint(text, "\nRetry idempotent calls only; one that changes state needs a uniqueness key that the client made (Idempotency-Key).\n")
	_, err := io.WriteString(out, text.String())
	return err
}

func writeRows(out io.Writer, rows []plan.Row) {
	columns := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(columns, "depth\tattempts\tworst case (ms)\tx budget\ttimeout (ms)\tx median\t")
	for _, r := range rows {
		fmt.Fprintf(columns, "%d\t%d\t%s\t%s\t%s\t%s\t\n", r.Depth, r.Attempts, figure.Short(r.WorstMs, 3), figure.Fixed(r.WorstRatio, 1),
			figure.Fixed(r.TimeoutMs, 1), figure.Fixed(r.MedianRatio, 2))
	}
	columns.Flush()
}

func writeSensitivity(out io.Writer, t plan.Table) {
	columns := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(columns, "depth\tattempts\ttimeout (ms)\tbefore\t")
	for i, s := range t.Sensitivity {
		fmt.Fprintf(columns, "%d\t%d\t%s\t%s\t\n", s.Depth, s.Attempts, figure.Fixed(s.TimeoutMs, 1), figure.Fixed(t.Rows[i].TimeoutMs, 1))
	}
	columns.Flush()
}

func writeTimeouts(out io.Writer, timeouts []plan.Timeout) {
	if len(timeouts) == 0 {
		return
	}
	fmt.Fprint(out, "\nTimeouts from measurement (p99 x 1.5, rounded up to one significant figure):\n\n")
	columns := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(columns, "p99 (ms)\ttimeout (ms)\t")
	for _, m := range timeouts {
		fmt.Fprintf(columns, "%s\t%s\t\n", figure.Short(m.P99Ms, 3), figure.Short(m.TimeoutMs, 3))
	}
	columns.Flush()
}

func separator(i int) string {
	if i > 0 {
		return ","
	}
	return ""
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
