package main

import (
	"fmt"
	"io"

	"github.com/kalan-go/kalan/internal/figure"
	"github.com/kalan-go/kalan/sim"
)

// writeLoads compares the kinds of callers, where there are several.
func writeLoads(out io.Writer, r *sim.Result) {
	if len(r.Arms[0].Loads) < 2 {
		return
	}
	fmt.Fprintln(out)
	var names []string
	for i := range r.Arms {
		for j := range r.Arms[i].Loads {
			names = append(names, r.Arms[i].Name+": "+r.Arms[i].Loads[j].Name)
		}
	}
	table, pad := columns(out, "callers", names)
	fmt.Fprintf(table, "%s\toffered/s\tgoodput/s\t±\tfair/s\tattempts/s\tp50\tp99\trefused\tlate\tfailed\t\n", pad("callers"))
	for i := range r.Arms {
		for j := range r.Arms[i].Loads {
			l := &r.Arms[i].Loads[j]
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t\n", pad(names[0]), rate(l.Offered.Mean), rate(l.Goodput.Mean), half(l.Goodput, rate),
				rate(r.Arms[i].Fair[j].Mean), rate(l.Attempts.Mean), short(l.Latency.Quantile(.5)), short(l.Latency.Quantile(.99)),
				percent(l.Refused.Mean), percent(l.Late.Mean), percent(max(l.Failed.Mean-l.Late.Mean, 0)))
			names = names[1:]
		}
	}
	table.Flush()
}

// writeParts says what became of the requests of each priority, or of the
// tenants that ask most.
func writeParts(out io.Writer, r *sim.Result, head string, of func(*sim.ArmResult) []sim.PartResult) {
	var names []string
	for i := range r.Arms {
		for _, p := range of(&r.Arms[i]) {
			names = append(names, r.Arms[i].Name+": "+p.Name)
		}
	}
	if len(names) == 0 {
		return
	}
	fmt.Fprintln(out)
	table, pad := columns(out, head, names)
	fmt.Fprintf(table, "%s\toffered/s\tgoodput/s\t±\trefused\tlate\tfailed\t\n", pad(head))
	for i := range r.Arms {
		for _, p := range of(&r.Arms[i]) {
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t\n", pad(names[0]), hundredths(p.Offered.Mean), hundredths(p.Goodput.Mean),
				half(p.Goodput, hundredths), percent(p.Refused.Mean), percent(p.Late.Mean), percent(p.Failed.Mean))
			names = names[1:]
		}
	}
	table.Flush()
}

// writeFairness says how evenly the callers were treated, and how many of
// several tenants got nothing.
func writeFairness(out io.Writer, r *sim.Result) {
	first := true
	for i := range r.Arms {
		a := &r.Arms[i]
		if len(a.Loads) < 2 {
			continue
		}
		if first {
			fmt.Fprintln(out)
			first = false
		}
		fmt.Fprintf(out, "fairness  %s: %s of 1", a.Name, figure.Fixed(a.Fairness.Mean, 2))
		for j := range a.Loads {
			if l := &a.Loads[j]; l.Tenants > 1 {
				fmt.Fprintf(out, "; of the %d %s %s got nothing", l.Tenants, l.Name, percent(l.Starved.Mean))
			}
		}
		fmt.Fprintln(out)
	}
}
