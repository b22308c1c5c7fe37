package main

import (
	"fmt"
	"strings"
)

// A target is something that must be reached, and whether it is.
type target struct {
	text, measured string
	met            bool
}

// alone are the policies that have peers.
var alone = []string{"Breaker", "Throttle", "Rate", "Slots", "AdaptiveLimit", "Retry"}

func targets(groups []*group) []target {
	var all []target
	for _, name := range alone {
		g := find(&groups, name)
		if p := g.best(); p != nil {
			k, best := median(g.peers[0].cpu), median(p.cpu)
			all = append(all, target{
				short[name] + " alone: no allocation, and no slower than the quickest peer",
				fmt.Sprintf("%.0f allocations, %.0f ns against %.0f (%s)", g.peers[0].allocs, k, best, p.name),
				g.peers[0].allocs == 0 && k <= best,
			})
		}
	}
	all = append(all, stackTargets("full stack on every core", find(&groups, "StackEveryCore"))...)
	all = append(all, stackTargets("full stack, the other cores idle", find(&groups, "Stack"))...)
	all = append(all, timeoutTargets(find(&groups, "StackTimeout"))...)
	return append(all, parallelTargets(find(&groups, "Stack"), find(&groups, "Parallel64"))...)
}

// best returns the quickest peer that is not Kalan, nil where the benchmark
// compares no libraries.
func (g *group) best() *peer {
	var best *peer
	if len(g.peers) == 0 || g.peers[0].name != "kalan" || short[g.name] == "" {
		return nil
	}
	for _, p := range g.peers {
		if !strings.HasPrefix(p.name, "kalan") && p.name != "hand-made" && (best == nil || median(p.cpu) < median(best.cpu)) {
			best = p
		}
	}
	return best
}

func stackTargets(what string, g *group) []target {
	if len(g.peers) == 0 {
		return nil
	}
	var all []target
	k := g.peer("kalan")
	for _, name := range []string{"failsafe", "failsafe-no-context"} {
		times := median(g.peer(name).cpu) / median(k.cpu)
		all = append(all, target{what + ": no allocation, at least 6 times as quick as " + name,
			fmt.Sprintf("%.0f allocations, %.1f times", k.allocs, times), k.allocs == 0 && times >= 6})
	}
	return all
}

func timeoutTargets(g *group) []target {
	if len(g.peers) == 0 {
		return nil
	}
	k := g.peer("kalan")
	return []target{{"with an attempt timeout: at most one allocation until somebody waits on it",
		fmt.Sprintf("%.0f", k.allocs), k.allocs <= 1}}
}

func parallelTargets(single, parallel *group) []target {
	if len(single.peers) == 0 || len(parallel.peers) == 0 {
		return nil
	}
	one, many := median(single.peer("kalan").wall), median(parallel.peer("kalan").wall)
	return []target{{"64 goroutines: no slower a call than twice the single one",
		fmt.Sprintf("%.0f ns against %.0f, wall", many, one), many <= 2*one}}
}
