package sim

import (
	"fmt"
	"strconv"
	"time"

	"github.com/kalan-go/kalan/sim/record"
)

// check compares an arm's result with what is expected of it.
func (r *ArmResult) check(c Claim) Check {
	if c.metric == "" {
		n := r.Verdicts[c.verdict]
		ok := n == sumOf(r.Verdicts[:])
		if c.not { // what cannot be told has not been shown
			ok = n+r.Verdicts[Undecided] == 0
		}
		return Check{Claim: c, OK: ok, Got: r.verdicts()}
	}
	if c.metric == "recovery" && r.Verdicts[Stable]+r.Verdicts[Recovers] < sumOf(r.Verdicts[:]) {
		return Check{Claim: c, Got: r.verdicts()}
	}
	got, want := r.figure(c), c.value
	switch c.unit {
	case "capacity":
		want *= r.Capacity
	case "offered":
		want *= r.rateOf(c, func(m *Moment) float64 { return m.Offered }, r.offeredOf(c.of))
	}
	return Check{Claim: c, OK: compare(got, c.op, want), Got: c.write(got)}
}

func compare(got float64, op string, want float64) bool {
	switch op {
	case "<":
		return got < want
	case "<=":
		return got <= want
	case ">":
		return got > want
	case ">=":
		return got >= want
	}
	return got == want
}

func (c Claim) write(got float64) string {
	if c.unit == "duration" {
		return time.Duration(got * float64(time.Second)).Round(10 * time.Microsecond).String()
	}
	return strconv.FormatFloat(got, 'g', 4, 64)
}

// verdicts says how often each verdict was, the worst first.
func (r *ArmResult) verdicts() string {
	text := ""
	for v := len(r.Verdicts) - 1; v >= 0; v-- {
		if n := r.Verdicts[v]; n > 0 {
			if text != "" {
				text += ", "
			}
			text += fmt.Sprintf("%v in %d of %d", Verdict(v), n, sumOf(r.Verdicts[:]))
		}
	}
	if r.Doubt != "" {
		text += ": " + r.Doubt
	}
	return text
}

func sumOf(counts []int) (n int) {
	for _, c := range counts {
		n += c
	}
	return n
}

// figure returns what the arm came to in the claim's metric. The claim has been
// validated: what it is about is there.
func (r *ArmResult) figure(c Claim) float64 {
	load := r.load(c.of)
	latency := &r.Latency
	if load != nil {
		latency = &load.Latency
	}
	switch c.metric {
	case "goodput":
		return r.rateOf(c, func(m *Moment) float64 { return m.Good }, pick(load, r.Goodput, func(l *LoadResult) record.Interval { return l.Goodput }))
	case "attempts":
		return r.rateOf(c, func(m *Moment) float64 { return m.Attempts }, r.attemptsOf(c.of))
	case "amplification":
		return r.amplification(c)
	case "recovery":
		return r.Recovery.Mean
	case "p50":
		return latency.Quantile(.5).Seconds()
	case "p95":
		return latency.Quantile(.95).Seconds()
	case "p99":
		return latency.Quantile(.99).Seconds()
	case "p99.9":
		return latency.Quantile(.999).Seconds()
	case "refused":
		return r.shareOf(load, func(l *LoadResult) float64 { return l.Refused.Mean })
	case "failed":
		return r.shareOf(load, func(l *LoadResult) float64 { return l.Failed.Mean })
	case "late":
		return r.shareOf(load, func(l *LoadResult) float64 { return l.Late.Mean })
	case "fairness":
		return r.Fairness.Mean
	case "wasted":
		if s := r.service(c.of); s != nil {
			return s.Wasted.Mean / max(s.Work.Mean, 1e-9)
		}
		return r.Wasted.Mean
	case "visits":
		return r.visits(c.of)
	case "work":
		return r.service(c.of).Work.Mean
	}
	return float64(r.service(c.of).Longest)
}

// visits returns how many requests reach a service for each of the loads.
func (r *ArmResult) visits(service string) float64 {
	requests := uint64(0)
	for i := range r.Loads {
		requests += r.Loads[i].Requests
	}
	return float64(r.service(service).Arrived) / max(float64(requests), 1)
}

func pick(load *LoadResult, all record.Interval, one func(*LoadResult) record.Interval) float64 {
	if load != nil {
		return one(load).Mean
	}
	return all.Mean
}

func (r *ArmResult) offeredOf(of string) float64 {
	return pick(r.load(of), r.Offered, func(l *LoadResult) record.Interval { return l.Offered })
}

func (r *ArmResult) attemptsOf(of string) float64 {
	return pick(r.load(of), r.Attempts, func(l *LoadResult) record.Interval { return l.Attempts })
}

func (r *ArmResult) amplification(c Claim) float64 {
	for i := range r.Edges {
		if r.Edges[i].Name() == c.of {
			return r.Edges[i].Amplification
		}
	}
	attempts := r.rateOf(c, func(m *Moment) float64 { return m.Attempts }, r.attemptsOf(c.of))
	return attempts / max(r.rateOf(c, func(m *Moment) float64 { return m.Offered }, r.offeredOf(c.of)), 1e-9)
}

// rateOf returns a rate over the claim's window, or the whole run's.
func (r *ArmResult) rateOf(c Claim, of func(*Moment) float64, whole float64) float64 {
	if c.to == 0 {
		return whole
	}
	series := r.Series
	if load := r.load(c.of); load != nil {
		series = load.Series
	}
	sum, n := 0.0, 0.0
	for i := range series {
		if at := series[i].At; at >= c.from && at < c.to {
			sum, n = sum+of(&series[i]), n+1
		}
	}
	return sum / max(n, 1)
}

// shareOf returns a share of the offered, of one load or of all.
func (r *ArmResult) shareOf(load *LoadResult, of func(*LoadResult) float64) float64 {
	if load != nil {
		return of(load)
	}
	sum := 0.0
	for i := range r.Loads {
		sum += of(&r.Loads[i]) * r.Loads[i].Offered.Mean
	}
	return sum / max(r.Offered.Mean, 1e-9)
}

func (r *ArmResult) load(name string) *LoadResult {
	for i := range r.Loads {
		if r.Loads[i].Name == name {
			return &r.Loads[i]
		}
	}
	return nil
}

func (r *ArmResult) service(name string) *ServiceResult {
	for i := range r.Services {
		if r.Services[i].Name == name {
			return &r.Services[i]
		}
	}
	return nil
}
