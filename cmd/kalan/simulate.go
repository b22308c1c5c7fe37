package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/kalan-go/kalan/cmd/internal/strict"
	"github.com/kalan-go/kalan/internal/figure"
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/sim/walk"
)

// longestScenario is what is read of a file; the decoder refuses less.
const longestScenario = 2 << 20

func newSimulateCommand() *cobra.Command {
	var format string
	c := &cobra.Command{
		Use:   "simulate FILE...",
		Short: "Play scenarios on a virtual clock over the machines that the gateway runs",
		Long: `Play scenarios on a virtual clock over the machines that the gateway runs.

A scenario of kind walk takes requests along a call chain one at a time, in
several regimes and under several configurations, and compares what comes of
them.`,
		Example: `  kalan simulate scenarios/chain-budget.yaml
  kalan simulate scenarios/chain-budget.yaml --format json`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, files []string) error {
			return runSimulate(c.OutOrStdout(), c.ErrOrStderr(), files, format)
		},
	}
	c.Flags().StringVar(&format, "format", "text", "text or json")
	return c
}

// runSimulate reads all files before it plays the first, so that a mistake in
// the last one is known at once.
func runSimulate(out, warnings io.Writer, files []string, format string) error {
	var bad []string
	if format != "text" && format != "json" {
		bad = append(bad, fmt.Sprintf("--format: %.40q is not a format; write text or json", format))
	}
	scenarios := make([]walk.Scenario, len(files))
	for i, file := range files {
		problems, err := readScenario(file, &scenarios[i])
		errs, doubts := problems.Split()
		if err == nil {
			err = errs.Err()
		}
		if err != nil {
			bad = append(bad, err.Error())
		}
		for _, doubt := range doubts {
			fmt.Fprintln(warnings, doubt)
		}
	}
	if len(bad) > 0 {
		return failure{errors.New(strings.Join(bad, "\n")), statusBad}
	}
	for _, s := range scenarios {
		if err := playScenario(out, s, format); err != nil {
			return err
		}
	}
	return nil
}

// readScenario reads one file and returns what is wrong with it, by position.
// Its kind comes first: what a key means, and whether it exists, depends on it.
func readScenario(file string, into *walk.Scenario) (strict.Problems, error) {
	text, err := readFile(file)
	if err != nil {
		return nil, err
	}
	var head struct {
		Kind string `yaml:"kind"`
	}
	doc, _ := strict.Decode(file, text, &head)
	if head.Kind != "" && head.Kind != walk.Kind {
		return strict.Problems{{Position: doc.Locate("kind"), Problem: policy.Problem{
			Path: "kind", Text: fmt.Sprintf("%.40q is not a kind of scenario; write %s", head.Kind, walk.Kind)}}}, nil
	}
	doc, found := strict.Decode(file, text, into)
	found = append(found, doc.Place(into.Validate())...)
	slices.SortStableFunc(found, func(a, b strict.Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return found, nil
}

func readFile(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, longestScenario))
}

func playScenario(out io.Writer, s walk.Scenario, format string) error {
	result := walk.Run(s)
	if format == "json" {
		return writeJSON(out, result)
	}
	text := &strings.Builder{}
	fmt.Fprintf(text, "%s: %d requests over a chain of %s and %s; promised within %v, of which the gateway needs %v\n",
		s.Name, s.Requests, count(s.Chain.Depth, "step"), branches(s.Chain.Branches), s.Promise, s.Share)
	for _, regime := range result.Regimes {
		fmt.Fprintf(text, "\n%s\n\n", regime.Name)
		writeWalk(text, regime.Rows)
		for _, sizing := range regime.Sizings {
			fmt.Fprintf(text, "\n%v\n", sizing)
		}
	}
	for _, verdict := range result.Verdicts() {
		fmt.Fprintf(text, "\n%s\n", verdict)
	}
	_, err := io.WriteString(out, text.String())
	return err
}

func branches(n int) string {
	if n == 1 {
		return "1 branch"
	}
	return fmt.Sprintf("%d branches", n)
}

// writeWalk writes one regime. Only the numbers stand to the right.
func writeWalk(out io.Writer, rows []walk.Row) {
	wide := len("configuration")
	for _, r := range rows {
		wide = max(wide, len([]rune(r.Configuration)))
	}
	columns := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(columns, "%-*s\tin time\tlate\tfailed\tmedian (ms)\tworst (ms)\tmultiplier\tinner req/s\t\n", wide, "configuration")
	for _, r := range rows {
		fmt.Fprintf(columns, "%-*s\t%d\t%d\t%d\t%s\t%s\t%s\t%s\t\n", wide, r.Configuration, r.InTime, r.Late, r.Failed,
			figure.Short(r.MedianMs, 3), figure.Short(r.WorstMs, 3), figure.Fixed(r.Multiplier, 2), figure.Fixed(r.InnerRPS, 2))
	}
	columns.Flush()
}
