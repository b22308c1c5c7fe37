package sim

import (
	"fmt"
	"math"
	"time"

	"github.com/kalan-go/kalan/policy/span"
	"github.com/kalan-go/kalan/sim/internal/world"
	"github.com/kalan-go/kalan/sim/record"
)

// courseOf returns the course of a tally.
func (c *compiler) courseOf(t *world.Tally) *course {
	// What was asked for at the very end has had no time to be answered.
	bins := int((c.s.Duration - c.s.patience()) / c.m.Bin)
	out := &course{
		bin: c.m.Bin, offered: make([]float64, bins), good: make([]float64, bins), backlog: make([]float64, bins),
		from: int(c.s.warmup() / c.m.Bin), begins: bins, capacity: c.s.Capacity(),
	}
	for _, load := range t.Asked {
		for b := range bins {
			out.offered[b] += float64(load[b].Offered)
			out.good[b] += float64(load[b].Good)
		}
	}
	for _, service := range t.Queues {
		for b := range min(bins, len(service)) {
			out.backlog[b] += float64(service[b].Waiting + service[b].Busy)
		}
	}
	for i := range c.s.Triggers {
		from, to := c.s.Triggers[i].At, c.s.end(&c.s.Triggers[i])
		out.begins = min(out.begins, int(from/c.m.Bin))
		out.ends = max(out.ends, int((to+c.m.Bin-1)/c.m.Bin))
		out.late = out.late || int(from/c.m.Bin) >= bins
	}
	if over := c.s.over(); over < c.s.Duration && out.ends >= bins && len(c.s.Triggers) > 0 {
		out.late = true
	}
	return out
}

// end returns when a trigger is over. A rollout is over when its last instance is
// back.
func (s *Scenario) end(t *Trigger) time.Duration {
	if t.What != Restart || t.For == 0 {
		return t.end(s.Duration)
	}
	n := 1
	if v := s.find(t.Of.Service); v != nil {
		n = max(v.Instances, 1)
	}
	if t.Instances > 0 {
		n = min(n, t.Instances)
	}
	last := span.Add(t.At, span.Mul(t.Every, int64(n-1)))
	back := t.For
	if t.Drain > 0 {
		back += t.Drain + t.Finish
	}
	return span.Add(last, max(back, t.Notice))
}

// over returns when the last trigger is over.
func (s *Scenario) over() (over time.Duration) {
	for i := range s.Triggers {
		over = max(over, s.end(&s.Triggers[i]))
	}
	return over
}

// patience is how long callers wait, as far as the end of a run cannot tell
// whether they would have had their answer.
func (s *Scenario) patience() time.Duration { return min(s.longestWait(), s.Duration/10) }

// longestWait is how long the most patient callers wait.
func (s *Scenario) longestWait() time.Duration {
	long := time.Second
	for i := range s.Loads {
		l := &s.Loads[i]
		long = max(long, l.Deadline)
		if l.Client != nil {
			long = max(long, l.Client.Timeout)
		}
	}
	return long
}

// addVerdict judges every replication. Where they differ, the arm's verdict is
// the one that most of them have; where as many have one as another, the worse.
func (c *compiler) addVerdict(r *ArmResult, ts []*world.Tally) {
	var recoveries []float64
	needs, known := 0, true
	for _, t := range ts {
		course := c.courseOf(t)
		v, after := course.judge()
		r.Verdicts[v]++
		switch v {
		case Recovers, Stable:
			recoveries = append(recoveries, after.Seconds())
		case Undecided:
			needs, known = max(needs, course.needs), known && course.needs > 0
		}
	}
	r.Recovery = record.Over(recoveries)
	for v, n := range r.Verdicts {
		if n > 0 && n >= r.Verdicts[r.Verdict] {
			r.Verdict = Verdict(v)
		}
	}
	if r.Verdicts[Undecided] > 0 {
		r.Doubt = c.doubt(needs, known)
	}
}

// doubt says what a run lacks in which a verdict could not be told.
func (c *compiler) doubt(needs int, known bool) string {
	left, of := c.s.Duration-c.s.over(), "the last trigger"
	switch {
	case len(c.s.Triggers) == 0:
		return fmt.Sprintf("fewer than %d requests come after the warm-up", enough)
	case left <= 0:
		left, of = c.s.Duration-c.s.Triggers[len(c.s.Triggers)-1].At, "the trigger begins"
	}
	if !known {
		return fmt.Sprintf("too few requests come in the %v after %s", left, of)
	}
	// The end of a run is not looked at: as long as callers wait, and a tenth
	// of it at most.
	judged := span.Mul(c.m.Bin, int64(needs))
	least := min(span.Add(judged, c.s.longestWait()), time.Duration(math.Ceil(float64(judged)/0.9)))
	least = (least + time.Second - 1).Truncate(time.Second)
	return fmt.Sprintf("the run ends %v after %s; make its duration at least %v", left, of, max(least, c.s.Duration+time.Second))
}

// Outcome says how often each verdict was, the worst first: "recovers", or
// "metastable in 5 of 10, recovers in 5 of 10" where replications differ.
func (r *ArmResult) Outcome() string {
	all := sumOf(r.Verdicts[:])
	if r.Verdicts[r.Verdict] == all {
		return r.Verdict.String()
	}
	return r.verdicts()
}
