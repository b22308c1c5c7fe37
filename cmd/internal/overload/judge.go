package overload

import "fmt"

// The judges say what a run comes to. Goodput is counted against what the
// upstream could have served in the time; a wait for recovery is the number of
// the second from which on every second was full.

func judgeLight(r *Run) []Figure {
	found := []Figure{
		most(".5x and .9x: refused or late", 100*(1-float64(r.Stages[0].Good+r.Stages[1].Good)/float64(r.Stages[0].Offered+r.Stages[1].Offered)), 0, "%"),
		most("p50 added at .5x", (r.Through.P50-r.Direct.P50).Seconds()*1e3, .3, "ms"),
	}
	if own, known := r.Own.Quantile(.99); known {
		found = append(found, most("gateway's own p99", own*1e3, 1, "ms"))
	}
	return found
}

func judgeOverload(r *Run) []Figure {
	var found []Figure
	for _, s := range r.Stages {
		found = append(found, least(fmt.Sprintf("%gx: goodput", s.Load), s.Goodput(), 95))
	}
	late, wasted := 0., 0.
	for _, s := range r.Stages {
		late, wasted = max(late, s.LatePart()), max(wasted, s.WastedPart())
	}
	found = append(found, most("late of the admitted", 100*late, 2, "%"), most("wasted of the served", 100*wasted, 2, "%"))
	for _, c := range []struct {
		name    string
		q, mark float64
	}{{"refused on arrival: p50", .5, 1}, {"refused on arrival: p99", .99, 5}} {
		if took, known := r.Arrival.Quantile(c.q); known {
			found = append(found, most(c.name, took*1e3, c.mark, "ms"))
		}
	}
	return found
}

func judgeRetries(r *Run) (found []Figure) {
	for i := 0; i < len(r.Stages); i += 2 {
		name := fmt.Sprintf("%gx with retries: ", r.Stages[i].Load)
		found = append(found, least(name+"goodput", r.Stages[i].Goodput(), 95), most(name+"full again after", r.Stages[i+1].Recovery(), 1, "s"))
	}
	return found
}

func judgeBrownOut(r *Run) []Figure {
	return []Figure{
		least("during: goodput", r.Stages[1].Goodput(), 90),
		most("full again after", r.Stages[2].Recovery(), 1, "s"),
	}
}

// judgeKind tells which part of the first kind of callers was served.
func judgeKind(name string, mark float64) func(*Run) []Figure {
	return func(r *Run) []Figure {
		k := r.Stages[0].Kinds[0]
		return []Figure{least(name, float64(k.Good)/float64(max(1, k.Offered)), mark), least("goodput", r.Stages[0].Goodput(), 90)}
	}
}

func judgeLeavers(r *Run) []Figure {
	return []Figure{most("full again after", r.Stages[1].Recovery(), 1, "s")}
}

func judgeChange(r *Run) []Figure {
	return []Figure{
		most("down: full after", r.Stages[1].Recovery(), 2, "s"),
		most("up: full after", r.Stages[2].Recovery(), 2, "s"),
	}
}
