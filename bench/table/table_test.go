package main

import (
	"strings"
	"testing"
)

const printed = `goos: linux
BenchmarkBreaker/peer=kalan-2    	 1000000	       100.0 ns/op	        70.0 cpu-ns/op	       0 B/op	       0 allocs/op
BenchmarkBreaker/peer=go-zero-2  	 1000000	       900.0 ns/op	       300.0 cpu-ns/op	       80 B/op	       2 allocs/op
BenchmarkBreaker/peer=failsafe-2 	 1000000	       200.0 ns/op	        85.5 cpu-ns/op	       0 B/op	       0 allocs/op
BenchmarkBreaker/peer=kalan-2    	 1000000	       120.0 ns/op	        74.0 cpu-ns/op	       0 B/op	       0 allocs/op
BenchmarkSlots/peer=kalan-2      	 1000000	        60.0 ns/op	        40.0 cpu-ns/op	       0 B/op	       0 allocs/op
BenchmarkSlots/peer=failsafe-2   	 1000000	        30.0 ns/op	        30.0 cpu-ns/op	       0 B/op	       0 allocs/op
PASS
`

func TestParse(t *testing.T) {
	groups := parse(printed)
	if len(groups) != 2 || groups[0].name != "Breaker" || len(groups[0].peers) != 3 {
		t.Fatalf("%d groups", len(groups))
	}
	k := groups[0].peers[0]
	if k.name != "kalan" || median(k.cpu) != 72 || median(k.wall) != 110 {
		t.Errorf("%+v", k)
	}
	if p := groups[0].peers[1]; p.name != "go-zero" || p.allocs != 2 {
		t.Errorf("%+v", p)
	}
	if best := groups[0].best(); best.name != "failsafe" {
		t.Errorf("the quickest peer is %s", best.name)
	}
}

// A target that is missed is said to be missed.
func TestTargets(t *testing.T) {
	met := map[string]bool{}
	for _, target := range targets(parse(printed)) {
		met[strings.Fields(target.text)[0]] = target.met
	}
	if !met["circuit"] || met["fixed"] || len(met) != 2 {
		t.Errorf("%v", met)
	}
	page := pageOf(parse(printed), "here.", "stats\n")
	if !strings.Contains(page, "| **missed** |") || !strings.Contains(page, "| failsafe | 86 | 200 | 1.19 | 0 |") {
		t.Error(page)
	}
}

func TestReplace(t *testing.T) {
	got, err := replace("a\n"+from+"\nold\n"+to+"\nb\n", "new\n")
	if want := "a\n" + from + "\nnew\n" + to + "\nb\n"; got != want || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	for _, bad := range []string{"nothing", from + "\nnot closed", to + "\n" + from + "\n"} {
		if _, err := replace(bad, ""); err == nil {
			t.Errorf("%q has a place for the summary", bad)
		}
	}
}
