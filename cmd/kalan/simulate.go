package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/kalan-go/kalan/cmd/internal/scenario"
	"github.com/kalan-go/kalan/cmd/internal/strict"
	"github.com/kalan-go/kalan/internal/figure"
	"github.com/kalan-go/kalan/sim"
	"github.com/kalan-go/kalan/sim/walk"
)

// statusStopped is what shells say of a command that was interrupted.
const statusStopped = 130

// A simulation is one use of the command.
type simulation struct {
	out, errOut io.Writer
	format      string
	report      string
	parallel    int
	seed        uint64
	command     []string
	page        page
	stop        <-chan struct{} // closed when the user has had enough
}

func newSimulateCommand() *cobra.Command {
	var s simulation
	c := &cobra.Command{
		Use:   "simulate FILE...",
		Short: "Play scenarios on a virtual clock over the machines that the gateway runs",
		Long: `Play scenarios on a virtual clock over the machines that the gateway runs.

A scenario of kind walk takes requests along a call chain one at a time, in
several regimes and under several configurations, and compares what comes of
them. One of kind events plays a system of services under load and trouble, in
several arms, and says what became of each: stable, recovers so many seconds after
the last trigger, suffers to the end, a slow drain, metastable, collapsed without a
trigger, or undecided where the run ends too soon to tell.

What its columns say, as means over the replications:

  offered/s    requests that came
  goodput/s    those of them that were answered in time
  ±            half of the interval in which the mean lies in 95 of 100 cases
  attempts/s   what was sent for them, retries included
  p50, p99     how long the answered ones took, from when they were meant to be sent
  wasted       the share of the services' work that was done for nobody
  fair/s       the goodput of a load had all that was answered been shared out fairly
  fairness     how even the shares of that are: 1 at best

It ends with 1 when an expectation of a scenario is not met, with 2 when a file is
wrong, and with 130 when it is interrupted; then it writes the arms that were
played to their end.`,
		Example: `  kalan simulate scenarios/chain-budget.yaml
  kalan simulate scenarios/retry-storm.yaml --report storm.html
  kalan simulate scenarios/*.yaml --format json`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, files []string) error {
			s.out, s.errOut = c.OutOrStdout(), c.ErrOrStderr()
			s.command = append([]string{"kalan", "simulate"}, files...)
			if s.seed != 0 {
				s.command = append(s.command, "--seed", strconv.FormatUint(s.seed, 10))
			}
			return s.run(c.Context(), files)
		},
	}
	c.Flags().StringVar(&s.format, "format", "text", "text or json")
	c.Flags().StringVar(&s.report, "report", "", "also write an HTML page to this file (kind: events, one FILE)")
	c.Flags().Uint64Var(&s.seed, "seed", 0, "what all random numbers begin with; 0: the scenario's own (kind: events)")
	c.Flags().IntVar(&s.parallel, "parallel", 0, "replications to play at once; 0: as many as there are processors")
	return c
}

// run reads all files before it plays the first, so that a mistake in the last
// one is known at once.
func (s *simulation) run(ctx context.Context, files []string) error {
	var bad []string
	if s.format != "text" && s.format != "json" {
		bad = append(bad, fmt.Sprintf("--format: %.40q is not a format; write text or json", s.format))
	}
	if s.report != "" && len(files) > 1 {
		bad = append(bad, "--report: a page is of one scenario; name one FILE")
	}
	scenarios := make([]scenario.File, len(files))
	if err := s.page.open(s.report); err != nil {
		bad = append(bad, "--report: "+err.Error())
	}
	defer s.page.close()
	for i, file := range files {
		var problems strict.Problems
		text, err := readFile(file)
		if err == nil {
			scenarios[i], problems = scenario.Read(file, text)
			err = problems.Err()
		}
		if err != nil {
			bad = append(bad, err.Error())
		}
		if s.report != "" && scenarios[i].Walk != nil {
			bad = append(bad, "--report: a page is of a scenario of kind events; "+file+" is of kind "+walk.Kind)
		}
		_, doubts := problems.Split()
		for _, doubt := range doubts {
			fmt.Fprintln(s.errOut, doubt)
		}
	}
	if len(bad) > 0 {
		return failure{errors.New(strings.Join(bad, "\n")), statusBad}
	}
	// From here on an interrupt ends the run, and a second one the process.
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	s.stop = ctx.Done()
	return s.play(files, scenarios)
}

// play plays all scenarios, also after one whose expectations are not met.
func (s *simulation) play(files []string, scenarios []scenario.File) error {
	var failed []string
	for i, f := range scenarios {
		if f.Walk != nil {
			if err := playWalk(s.out, *f.Walk, s.format); err != nil {
				return err
			}
			continue
		}
		unmet, err := s.playEvents(*f.Events)
		if errors.Is(err, sim.ErrStopped) {
			return failure{fmt.Errorf("%s: %w", files[i], err), statusStopped}
		}
		if err != nil {
			return fmt.Errorf("%s: %w", files[i], err)
		}
		for _, u := range unmet {
			failed = append(failed, files[i]+": "+u)
		}
	}
	if len(failed) > 0 {
		return failure{errors.New(strings.Join(failed, "\n")), statusFailed}
	}
	return nil
}

// readFile reads a file that may be a scenario.
func readFile(file string) ([]byte, error) {
	text, err := strict.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: there is no such file", file)
	}
	return text, err
}

func playWalk(out io.Writer, s walk.Scenario, format string) error {
	result := walk.Run(s)
	if format == "json" {
		return writeJSON(out, result)
	}
	text := &strings.Builder{}
	fmt.Fprintf(text, "%s: %d requests over a chain of %s and %s; promised within %v, of which the gateway needs %v\n",
		s.Name, s.Requests, count(s.Chain.Depth, "step"), branches(s.Chain.Branches), s.Promise, s.Share)
	writeInner(text, s)
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

// writeInner says what reaches the steps while none is tried again, and at the
// most (B4).
func writeInner(out io.Writer, s walk.Scenario) {
	most := 1
	for _, c := range s.Configurations {
		most = max(most, c.Retry.WithDefaults().Attempts)
	}
	rate := s.Rate * float64(s.Chain.Steps())
	fmt.Fprintf(out, "%s requests/s become %s calls/s inside", figure.Fixed(s.Rate, 2), figure.Fixed(rate, 2))
	if most > 1 {
		fmt.Fprintf(out, ", and %s when every step is tried %d times", figure.Fixed(rate*float64(most), 2), most)
	}
	fmt.Fprintln(out)
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
