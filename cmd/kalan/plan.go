package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kalan-go/kalan/plan"
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/span"
)

// planFlags are the flags as they were written. They are read by hand, so that
// everything that is wrong with them is said at once.
type planFlags struct {
	budget, share, median, depth, attempts, p99, layers, format string
	config, route                                               string
}

func newPlanCommand() *cobra.Command {
	var flags planFlags
	c := &cobra.Command{
		Use:   "plan",
		Short: "Divide a time budget over a chain of calls, or over what a configuration says",
		Long: `Divide what a caller waits over a chain of calls.

With --config: what each route of a kalan.yaml promises, what a caller waits at
worst, how many of its attempts fit, and what each of them has left when those
before it timed out or failed at once. Where not all fit, what to write instead;
and warnings, with their place in the file, where settings cannot do what they
are there for. --median is what an attempt usually takes, if it was measured.

Without, from flags: for every depth and number of attempts the worst case when
nobody divides the budget, the timeout of an attempt that keeps it, and how that
compares with what a step usually takes; the deepest chain that is possible; and
the same table with the gateway's share doubled.

As JSON, unrounded and in milliseconds:

  {"rows": [{"depth", "attempts", "worst_ms", "worst_ratio", "timeout_ms", "median_ratio"}],
   "deepest": [{"attempts", "depth"}],
   "sensitivity": [{"depth", "attempts", "share_ms", "timeout_ms"}],
   "timeouts": [{"p99_ms", "timeout_ms"}],
   "warnings": ["..."]}

The last two are there only when they have something in them: timeouts with
--p99, warnings when there are any. With --config:

  {"routes": [{"route", "upstream", "promise_ms", "worst_ms", "needs_ms",
               "margin_ms", "checkout_ms", "exchange_ms", "pauses_ms",
               "attempts", "fit", "late_ms": [...], "early_ms": [...],
               "hedge_ms", "divided_ms", "instead": {"exchange", "attempts", "promise"}}],
   "warnings": ["file:line:column: warning: path: text"]}

where late_ms and early_ms end with the first attempt that has nothing, and what
there is not is left out.`,
		Example: `  kalan plan --config kalan.yaml
  kalan plan --config kalan.yaml --route "GET /prices/" --median 20ms
  kalan plan --budget 200ms --share 20ms --median 8ms --depth 1-4 --attempts 1,3
  kalan plan --budget 1s --share 20ms --median 8ms --p99 120ms,500ms
  kalan plan --budget 1s --share 20ms --median 8ms --layers 3,3,3 --format json`,
		Args: fileByFlag,
		RunE: func(c *cobra.Command, _ []string) error {
			if given := c.Flags().Changed; given("config") {
				return runPlanFile(c.OutOrStdout(), flags, given)
			}
			return runPlan(c.OutOrStdout(), flags)
		},
	}
	f := c.Flags()
	f.StringVar(&flags.budget, "budget", "", "what the caller waits, end to end (needed without --config)")
	f.StringVar(&flags.share, "share", "", "what the gateway itself needs of it (needed without --config)")
	f.StringVar(&flags.median, "median", "", "what one step usually takes (needed without --config)")
	f.StringVar(&flags.depth, "depth", "1-4", "steps that follow one another")
	f.StringVar(&flags.attempts, "attempts", "1,3", "how often each step may be called")
	f.StringVar(&flags.p99, "p99", "", "measured 99th percentiles of the callees, one after the other")
	f.StringVar(&flags.layers, "layers", "", "attempts of layers that retry above one another, the outermost first")
	f.StringVar(&flags.format, "format", "text", "text or json")
	f.StringVar(&flags.config, "config", "", "plan what this configuration `file` says")
	f.StringVar(&flags.route, "route", "", "of its routes only that one, as the file has it: \"GET /prices/\"")
	return c
}

func runPlan(out io.Writer, flags planFlags) error {
	q, problems := flags.question()
	if len(problems) > 0 {
		return failure{problems, statusBad}
	}
	table := plan.New(q)
	if flags.format == "json" {
		return writeJSON(out, table)
	}
	return writePlan(out, q, table)
}

// question reads the flags. What cannot be read is reported once: the zero
// value that stands in for it is not judged again.
func (flags planFlags) question() (plan.Question, policy.Problems) {
	var r flagReader
	q := plan.Question{
		Budget:   r.duration("budget", flags.budget, "200ms"),
		Share:    r.duration("share", flags.share, "20ms"),
		Median:   r.duration("median", flags.median, "8ms"),
		Depths:   r.counts("depth", flags.depth),
		Attempts: r.counts("attempts", flags.attempts),
		P99:      r.durations("p99", flags.p99),
	}
	if flags.layers != "" {
		q.Layers = r.counts("layers", flags.layers)
	}
	r.format(flags.format)
	if flags.route != "" {
		r.wrong("route", "names a route of a file; write --config as well")
	}
	for _, p := range q.Validate() {
		if !r.broken(p.Path) {
			r.wrong(p.Path, p.Text)
		}
	}
	return q, r.found
}

// A flagReader collects what is wrong with flags.
type flagReader struct{ found policy.Problems }

func (r *flagReader) wrong(flag, text string) {
	r.found = append(r.found, policy.Problem{Path: "--" + flag, Text: text})
}

// broken reports whether the flag, or one that it is compared with, could not
// be read.
func (r *flagReader) broken(flag string) bool {
	for _, p := range r.found {
		if p.Path == "--"+flag || flag == "share" && p.Path == "--budget" {
			return true
		}
	}
	return false
}

func (r *flagReader) format(text string) {
	if text != "text" && text != "json" {
		r.wrong("format", fmt.Sprintf("%.40q is not a format; write text or json", text))
	}
}

func (r *flagReader) duration(flag, text, example string) time.Duration {
	if text == "" {
		r.wrong(flag, "is missing; write a duration such as "+example)
		return 0
	}
	d, err := span.Parse(text)
	if err != nil {
		r.wrong(flag, err.Error())
	}
	return d
}

func (r *flagReader) durations(flag, list string) []time.Duration {
	if list == "" {
		return nil
	}
	var all []time.Duration
	for text := range strings.SplitSeq(list, ",") {
		d, err := span.Parse(strings.TrimSpace(text))
		if err != nil {
			r.wrong(flag, err.Error())
			return nil
		}
		all = append(all, d)
	}
	return all
}

func (r *flagReader) counts(flag, list string) []int {
	counts, err := plan.ParseCounts(list)
	if err != nil {
		r.wrong(flag, err.Error())
	}
	return counts
}

// writeJSON writes v as one indented document.
func writeJSON(out io.Writer, v any) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
