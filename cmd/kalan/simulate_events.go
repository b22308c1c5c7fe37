package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/kalan-go/kalan/cmd/internal/report"
	"github.com/kalan-go/kalan/internal/figure"
	"github.com/kalan-go/kalan/sim"
	"github.com/kalan-go/kalan/sim/record"
)

// playEvents plays a system and returns the expectations that are not met. When
// the user has had enough, it writes what is known by then.
func (s *simulation) playEvents(scenario sim.Scenario) ([]string, error) {
	if s.seed != 0 {
		scenario.Seed = s.seed
	}
	progress := newProgress(s.errOut, scenario.Name)
	r, err := sim.Run(scenario, sim.Options{Parallel: s.parallel, Progress: progress.tell(), Stop: s.stop})
	progress.end()
	switch {
	case errors.Is(err, sim.ErrStopped):
		return nil, s.writeRest(&r, max(len(scenario.Arms), 1), err)
	case err != nil:
		return nil, err
	}
	if s.format == "json" {
		err = writeJSON(s.out, r)
	} else {
		_, err = io.WriteString(s.out, summary(&r))
	}
	if err == nil && s.report != "" {
		err = s.page.write(&r, report.Options{Command: s.command, Version: version()})
	}
	return r.Failed(), err
}

// writeRest writes the arms that were played before the run was stopped, for a
// person; a program would take them for all.
func (s *simulation) writeRest(r *sim.Result, arms int, stopped error) error {
	if s.format == "text" && len(r.Arms) > 0 {
		if _, err := io.WriteString(s.out, summary(r)); err != nil {
			return err
		}
	}
	return fmt.Errorf("%w: %d of %s played to the end", stopped, len(r.Arms), count(arms, "arm"))
}

// summary writes what a scenario's run found, for a terminal.
func summary(r *sim.Result) string {
	out := &strings.Builder{}
	fmt.Fprintf(out, "%s: %s of %v each, seed %d\n\n", r.Name, count(r.Replications, "replication"), r.Duration, r.Seed)
	writeArms(out, r)
	for i, advice := range r.Advice() {
		if i == 0 {
			fmt.Fprintln(out)
		}
		fmt.Fprintln(out, advice)
	}
	writeLoads(out, r)
	writeParts(out, r, "by priority", func(a *sim.ArmResult) []sim.PartResult { return a.Levels })
	writeParts(out, r, "who asks most", func(a *sim.ArmResult) []sim.PartResult { return a.Tenants[:min(len(a.Tenants), 3)] })
	writeFairness(out, r)
	writeServices(out, r)
	writeSearches(out, r)
	writeChecks(out, r)
	return out.String()
}

// columns begins a table in which only the numbers stand to the right.
func columns(out io.Writer, head string, names []string) (*tabwriter.Writer, func(name string) string) {
	wide := len(head)
	for _, name := range names {
		wide = max(wide, len([]rune(name)))
	}
	return tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight), func(name string) string {
		return name + strings.Repeat(" ", wide-len([]rune(name)))
	}
}

func writeArms(out io.Writer, r *sim.Result) {
	var names []string
	for i := range r.Arms {
		names = append(names, r.Arms[i].Name)
	}
	table, pad := columns(out, "arm", names)
	fmt.Fprintf(table, "%s\toffered/s\tgoodput/s\t±\tattempts/s\tp50\tp99\twasted\t  verdict\n", pad("arm"))
	for i := range r.Arms {
		a := &r.Arms[i]
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t  %s\n", pad(a.Name), rate(a.Offered.Mean), rate(a.Goodput.Mean), half(a.Goodput, rate),
			rate(a.Attempts.Mean), short(a.Latency.Quantile(.5)), short(a.Latency.Quantile(.99)), percent(a.Wasted.Mean), verdict(a))
	}
	table.Flush()
}

// verdict says what became of an arm, and how sure that is.
func verdict(a *sim.ArmResult) string {
	text := a.Outcome()
	switch one := text == a.Verdict.String(); {
	case one && a.Verdict == sim.Recovers:
		text += " " + seconds(a.Recovery) + " after the last trigger"
	case one && a.Verdict == sim.Undecided:
		text += ": " + a.Doubt
	case one && a.Verdict == sim.Stable && a.Goodput.Mean < 0.9*a.Offered.Mean: // stable can be bad, all the time
		text += ", though " + percent(a.Goodput.Mean/a.Offered.Mean) + " are answered in time"
	case !one && a.Verdicts[sim.Recovers] > 0:
		text += " (back after " + seconds(a.Recovery) + ")"
	}
	if a.Amplifies != "" {
		text += "; amplifies: " + a.Amplifies
	}
	return text
}

func writeServices(out io.Writer, r *sim.Result) {
	var names []string
	for i := range r.Arms {
		for j := range r.Arms[i].Services {
			names = append(names, r.Arms[i].Name+": "+r.Arms[i].Services[j].Name)
		}
	}
	fmt.Fprintln(out)
	table, pad := columns(out, "services", names)
	fmt.Fprintf(table, "%s\tarrived\trefused\tdropped\tbusy\twasted\tmean wait\tlongest queue\t\n", pad("services"))
	for i := range r.Arms {
		for j := range r.Arms[i].Services {
			s := &r.Arms[i].Services[j]
			fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%s\t%s\t%s\t%d\t\n", pad(names[0]), s.Arrived, s.Refused, s.Dropped, busy(s),
				percent(s.Wasted.Mean/max(s.Work.Mean, 1e-9)), short(s.Wait.Mean()), s.Longest)
			names = names[1:]
		}
	}
	table.Flush()
}

func busy(s *sim.ServiceResult) string {
	if s.Workers == 0 {
		return "-"
	}
	return percent(s.Utilisation.Mean)
}

func writeSearches(out io.Writer, r *sim.Result) {
	for i, s := range r.Searches {
		if i == 0 {
			fmt.Fprintln(out)
		}
		what, unit := "the largest load that it heals from is", "/s"
		if s.What == "trigger" {
			what, unit = "the shortest trigger that tips it lasts", " s"
		}
		doubt := ""
		if n := undecided(&s); n > 0 {
			doubt = fmt.Sprintf("; %s ended too soon to tell and counted as tipped: make the duration longer", count(n, "replication"))
		}
		switch {
		case s.Always:
			fmt.Fprintf(out, "%s: it tips from %s%s on%s\n", s.Name, figure.Short(s.Low, 2), unit, doubt)
		case s.Never:
			fmt.Fprintf(out, "%s: it does not tip up to %s%s%s\n", s.Name, figure.Short(s.High, 2), unit, doubt)
		default:
			fmt.Fprintf(out, "%s: %s %s%s (between %s and %s%s)%s\n", s.Name, what, figure.Short(s.Found, 2), unit, figure.Short(s.Low, 2), figure.Short(s.High, 2), doubt, vulnerable(r, &s))
		}
	}
}

// vulnerable says at which loads a trigger decides, where the largest load was
// searched for that heals.
func vulnerable(r *sim.Result, s *sim.SearchResult) string {
	for i := range r.Arms {
		if a := &r.Arms[i]; s.What == "load" && (a.Name == s.Arm || s.Arm == "" && i == 0) && a.Capacity > s.Found {
			return fmt.Sprintf("; from there to its capacity of %s/s it is vulnerable: the trigger decides", figure.Short(a.Capacity, 2))
		}
	}
	return ""
}

// undecided returns how many replications of a search could not be judged.
func undecided(s *sim.SearchResult) (n int) {
	for _, t := range s.Trials {
		n += t.Undecided
	}
	return n
}

func writeChecks(out io.Writer, r *sim.Result) {
	first := true
	for i := range r.Arms {
		for _, c := range r.Arms[i].Checks {
			if first {
				fmt.Fprintln(out)
				first = false
			}
			mark := "ok    "
			if !c.OK {
				mark = "FAILED"
			}
			fmt.Fprintf(out, "%s  %s: %v (%s)\n", mark, r.Arms[i].Name, c.Claim, c.Got)
		}
	}
}

func rate(x float64) string { return figure.Fixed(x, 1) }

func percent(share float64) string { return figure.Fixed(100*share, 1) + "%" }

// short writes a duration with three significant digits.
func short(d time.Duration) string {
	switch {
	case d >= 100*time.Second:
		return figure.Fixed(d.Seconds(), 0) + "s"
	case d >= time.Second:
		return figure.Fixed(d.Seconds(), 2) + "s"
	}
	return figure.Fixed(float64(d)/float64(time.Millisecond), 1) + "ms"
}

func hundredths(x float64) string { return figure.Short(x, 2) }

// half writes how far from a mean the true one may lie. One replication says
// nothing about that, and 0 would say that it is exact.
func half(i record.Interval, write func(float64) string) string {
	if i.N < 2 {
		return "-"
	}
	return write(i.Half)
}

func seconds(i record.Interval) string {
	if i.N < 2 {
		return rate(i.Mean) + " s"
	}
	return rate(i.Mean) + " s ±" + rate(i.Half)
}
