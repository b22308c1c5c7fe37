package main

import (
	"fmt"
	"strings"
)

// titles say what each benchmark does.
var titles = map[string]string{
	"Breaker":             "Circuit breaker: a call that passes and succeeds",
	"Throttle":            "Adaptive throttle: a call that passes and is accepted",
	"Rate":                "Rate limit: a call that passes",
	"Slots":               "Fixed limit: a slot taken and given back",
	"AdaptiveLimit":       "Adaptive limit: a slot taken and given back",
	"Retry":               "Retry: a call that succeeds at once (Kalan with its budget)",
	"Stack":               "Full stack without an attempt timeout",
	"StackEveryCore":      "The same on every core at once, each with its own stack",
	"StackTimeout":        "Full stack with an attempt timeout that nobody waits for",
	"StackTimeoutAwaited": "Full stack with an attempt timeout that the function waits on",
	"Refusal":             "A refusal by an open breaker",
	"Parallel64":          "From 64 goroutines",
	"Floor":               "What cannot be done without",
}

const intro = `# Benchmarks

Made by scripts/bench.sh; do not edit. The same work on Kalan and on its peers, in one run: %s

*Processor time* is what the process used for a call, garbage collection included; *wall* is what went by. The first does not change when
other work shares the machine, so ratios are made of it. All figures are medians of the rounds. *Times* is how many times Kalan's
(the first row's) processor time the peer takes.

A policy of Kalan's is given a mutex, and two readings of the clock where the peers read one. Peers are used in the cheapest way
that they document; what they do and do not do is in [bench](../bench). failsafe-go's stack is used with the caller's context,
as Kalan's and the hand-made one are, and once without.

The fixed limit's *kalan* is package *slots*, which counts as the semaphore does, and nothing else; a slot is asked for and not waited for
(TryAcquire). *kalan-measuring* is the machine that a guard uses, under a mutex: it keeps the latency beside the number as well, of calls that took
no time, since no peer reads a clock; *kalan-measuring-timed* does, twice.

`

// pageOf is the whole page.
func pageOf(groups []*group, how, stats string) string {
	var b strings.Builder
	fmt.Fprintf(&b, intro, how)
	b.WriteString("## Targets\n\n| target | measured | |\n| --- | --- | --- |\n")
	for _, t := range targets(groups) {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", t.text, t.measured, map[bool]string{true: "met", false: "**missed**"}[t.met])
	}
	for _, g := range groups {
		fmt.Fprintf(&b, "\n## %s\n\n| | processor ns | wall ns | times | allocations |\n| --- | ---: | ---: | ---: | ---: |\n", titles[g.name])
		base := median(g.peers[0].cpu)
		for _, p := range g.peers {
			cpu := median(p.cpu)
			fmt.Fprintf(&b, "| %s | %.0f | %.0f | %.2f | %.0f |\n", p.name, cpu, median(p.wall), cpu/base, p.allocs)
		}
	}
	b.WriteString("\n" + notes)
	fmt.Fprintf(&b, "\n## benchstat\n\n```\n%s```\n", stats)
	return b.String()
}

const notes = `## Where Kalan is slower

- *A fixed limit that measures* (kalan-measuring). Two locked sections alone take what a semaphore takes; measuring how long the work takes
  and how much of it there is comes on top. A guard needs it also where the number is fixed: that is how it tells that the number is too high and
  that a request cannot end in time. Whoever needs a count alone takes package slots.
- *The full stack* is bound by its two clock readings and two locks (*what cannot be done without*), more than half of its time, and takes
  the same wherever it runs. failsafe-go's makes garbage, which costs less where the other core is idle than on every core at once. The target is asked of
  both.
- *A timeout that is waited on* costs what the standard library's does, because it is that: the context arms a real one at the first
  question for its channel.
`

// summaryOf is the README's section.
func summaryOf(groups []*group) string {
	var b strings.Builder
	b.WriteString("## How fast\n\nProcessor time of one call, and its allocations, against the quickest peer with the same policy:\n\n" +
		"| | Kalan | | quickest peer | | |\n| --- | ---: | ---: | ---: | ---: | --- |\n")
	for _, g := range groups {
		p := g.best()
		if p == nil {
			continue
		}
		k := g.peers[0]
		fmt.Fprintf(&b, "| %s | %.0f ns | %.0f | %.0f ns | %.0f | %s |\n", short[g.name], median(k.cpu), k.allocs, median(p.cpu), p.allocs, p.name)
	}
	b.WriteString("\nAll peers, how it is measured and where Kalan is slower: [docs/benchmarks.md](docs/benchmarks.md).\n")
	return b.String()
}

// short are the names in the README, of those that are in it.
var short = map[string]string{
	"Breaker": "circuit breaker", "Throttle": "adaptive throttle", "Rate": "rate limit", "Slots": "fixed limit", "AdaptiveLimit": "adaptive limit", "Retry": "retry",
	"Stack": "full stack", "StackTimeout": "full stack with a timeout",
}
