package main

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A group is one benchmark: the same work by several peers.
type group struct {
	name  string
	peers []*peer
}

// A peer is what one library took, in each round.
type peer struct {
	name      string
	wall, cpu []float64
	allocs    float64
}

var line = regexp.MustCompile(`^Benchmark(\w+)/peer=(\S+?)(?:-\d+)?\s+\d+\s+([\d.]+) ns/op\s+([\d.]+) cpu-ns/op\s+\d+ B/op\s+(\d+) allocs/op`)

// parse reads what go test printed, in the order of its first appearance.
func parse(text string) []*group {
	var groups []*group
	for l := range strings.Lines(text) {
		m := line.FindStringSubmatch(l)
		if m == nil {
			continue
		}
		p := find(&groups, m[1]).peer(m[2])
		p.wall = append(p.wall, number(m[3]))
		p.cpu = append(p.cpu, number(m[4]))
		p.allocs = max(p.allocs, number(m[5]))
	}
	return groups
}

func find(groups *[]*group, name string) *group {
	for _, g := range *groups {
		if g.name == name {
			return g
		}
	}
	g := &group{name: name}
	*groups = append(*groups, g)
	return g
}

func (g *group) peer(name string) *peer {
	for _, p := range g.peers {
		if p.name == name {
			return p
		}
	}
	p := &peer{name: name}
	g.peers = append(g.peers, p)
	return p
}

func number(text string) float64 {
	f, _ := strconv.ParseFloat(text, 64) // the pattern lets nothing else pass
	return f
}

// median returns the middle one.
func median(of []float64) float64 {
	sorted := slices.Sorted(slices.Values(of))
	n := len(sorted)
	switch {
	case n == 0:
		return 0
	case n%2 == 1:
		return sorted[n/2]
	}
	return (sorted[n/2-1] + sorted[n/2]) / 2
}
