package report

import (
	"strconv"
	"strings"

	"github.com/kalan-go/kalan/internal/figure"
	"github.com/kalan-go/kalan/sim"
)

// A page is what the template writes, in its order.
type page struct {
	Name, About  string
	Headline     sentence
	Lead         sentence
	Omitted      string
	Advice       []string
	Cards        []card
	Load         *loadChart
	Time         *timeChart
	Latency      *latencyChart
	Hops         barTable
	Waste        barTable
	Fairness     fairness
	Verdicts     barTable
	Intervals    barTable
	Searches     []searchRow
	Trials       barTable
	Replications int
	Checks       []checkRow
	Assumptions  []string
	Facts        []fact
	Command      string
	Downloads    []download
	Version      string
}

// A card is an arm at a glance.
type card struct {
	Name, About string
	Badge       badge
	Facts       []fact
}

// A fact is a figure with its name.
type fact struct{ Name, Value string }

// A checkRow is an expectation and what it came to.
type checkRow struct {
	Arm, Expected, Got string
	OK                 bool
}

// Numbers are a table of the figures behind a chart: a column for each figure
// in a group for each arm.
type numbers struct {
	ID, Caption, First string
	Groups, Columns    []string
	Rows               []numberRow
}

type numberRow struct {
	Head  string
	Cells []string
}

func newPage(all *sim.Result, o Options) (*page, error) {
	r := shown(all)
	downloads, err := newDownloads(r)
	if err != nil {
		return nil, err
	}
	p := &page{
		Name: named(r.Name, 2*longestName), About: strings.TrimSpace(r.About), Headline: headline(all), Lead: lead(all), Omitted: omitted(all), Advice: all.Advice(),
		Load: newLoadChart(r), Time: newTimeChart(r), Latency: newLatencyChart(r),
		Hops: newHops(r), Waste: newWaste(r), Fairness: newFairness(r),
		Verdicts: newVerdicts(r), Intervals: newIntervals(r), Searches: newSearches(r), Trials: newTrials(r), Replications: r.Replications,
		Assumptions: r.Assumptions, Facts: factsOf(r), Command: commandLine(o.Command), Downloads: downloads, Version: o.Version,
	}
	for i := range r.Arms {
		a := &r.Arms[i]
		p.Cards = append(p.Cards, cardOf(a))
		for _, c := range a.Checks {
			p.Checks = append(p.Checks, checkRow{named(a.Name, longestName), c.Claim.String(), c.Got, c.OK})
		}
	}
	return p, nil
}

func cardOf(a *sim.ArmResult) card {
	c := card{Name: named(a.Name, longestName), About: strings.TrimSpace(a.About), Badge: badgeOf(a)}
	add := func(name, value string) { c.Facts = append(c.Facts, fact{name, value}) }
	add("goodput", amount(a.Goodput.Mean)+" of "+amount(a.Offered.Mean)+"/s")
	add("p99 latency", quantile(&a.Latency, .99))
	add("attempts per request", times(a.Amplification.Mean))
	add("wasted work", percent(a.Wasted.Mean))
	if a.Verdict == sim.Recovers {
		add("recovery after the trigger", recovery(a))
	}
	if len(a.Loads) > 1 && a.Fairness.N > 0 {
		add("fairness", figure.Fixed(a.Fairness.Mean, 2)+" of 1")
	}
	if a.Amplifies != "" {
		add("amplifies", named(strings.Replace(a.Amplifies, ">", " → ", 1), longestName))
	}
	return c
}

// factsOf says what the run was.
func factsOf(r *sim.Result) []fact {
	return []fact{
		{"seed", strconv.FormatUint(r.Seed, 10)},
		{"replications", strconv.Itoa(r.Replications)},
		{"length of each", took(r.Duration)},
		{"warm-up, not counted", took(r.Warmup)},
		{"events played", count(r.Events)},
		{"hash of all events", strconv.FormatUint(r.Hash, 16)},
	}
}

// commandLine writes a command so that a shell reads it as it was.
func commandLine(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = w
		if w == "" || strings.Trim(w, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+./,:@%") != "" {
			quoted[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}
