// Command table makes the page of benchmarks, and the summary in the README,
// from what the benchmarks printed. scripts/bench.sh calls it.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"strings"
)

// The README's summary stands between these two lines.
const (
	from = "<!-- benchmarks: made by scripts/bench.sh -->"
	to   = "<!-- /benchmarks -->"
)

func main() {
	log.SetFlags(0)
	results := flag.String("results", "", "what the benchmarks printed")
	stats := flag.String("benchstat", "", "what benchstat made of it")
	page := flag.String("page", "", "the page to write")
	readme := flag.String("readme", "", "the document with the summary")
	how := flag.String("how", "", "how it was measured, in one line")
	flag.Parse()

	groups := parse(read(*results))
	if len(groups) == 0 {
		log.Fatalf("table: %s has no benchmark results; run scripts/bench.sh", *results)
	}
	write(*page, pageOf(groups, *how, read(*stats)))
	text, err := replace(read(*readme), summaryOf(groups))
	if err != nil {
		log.Fatalf("table: %s: %v", *readme, err)
	}
	write(*readme, text)
}

func read(name string) string {
	text, err := os.ReadFile(name)
	if err != nil {
		log.Fatal("table: ", err)
	}
	return string(text)
}

func write(name, text string) {
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		log.Fatal("table: ", err)
	}
}

// replace puts the summary between the two lines.
func replace(document, summary string) (string, error) {
	before, rest, found := strings.Cut(document, from+"\n")
	_, after, closed := strings.Cut(rest, to+"\n")
	if !found || !closed {
		return "", fmt.Errorf("has no lines %q and %q; put them where the summary belongs", from, to)
	}
	return before + from + "\n" + summary + to + "\n" + after, nil
}
