package sim

import (
	"encoding/json"
	"time"

	"github.com/kalan-go/kalan/sim/record"
)

// The form of a result that other programs read.
type (
	jsonMean struct {
		Mean float64 `json:"mean"`
		// CI95 is half the width of the interval; null where there is one
		// replication, which says nothing about it.
		CI95 *float64 `json:"ci95"`
	}
	jsonLatency struct {
		P50 float64 `json:"p50"`
		P95 float64 `json:"p95"`
		P99 float64 `json:"p99"`
	}
	jsonArm struct {
		Name     string      `json:"name"`
		Offered  float64     `json:"offered_rps"`
		Goodput  jsonMean    `json:"goodput_rps"`
		Attempts float64     `json:"attempts_rps"`
		Latency  jsonLatency `json:"latency_ms"`
		Verdict  Verdict     `json:"verdict"`
		Recovery *float64    `json:"recovery_s"`
		// Verdicts are how many replications had each, and Doubt why some are
		// undecided.
		Verdicts map[string]int `json:"verdicts"`
		Doubt    string         `json:"doubt,omitempty"`
		Fairness jsonMean       `json:"fairness"`
		Loads    []jsonPart     `json:"loads"`
		Levels   []jsonPart     `json:"levels,omitempty"`
		Tenants  []jsonPart     `json:"tenants,omitempty"`
	}
	// A jsonPart is what became of a load, of the requests of a priority or of
	// a tenant; the last three keys are a load's.
	jsonPart struct {
		Name    string   `json:"name"`
		Offered float64  `json:"offered_rps"`
		Goodput jsonMean `json:"goodput_rps"`
		Refused float64  `json:"refused"`
		Late    float64  `json:"late"`
		Failed  float64  `json:"failed"`
		Fair    *float64 `json:"fair_rps,omitempty"`
		Tenants int      `json:"tenants,omitempty"`
		Starved *float64 `json:"starved,omitempty"`
	}
)

// MarshalJSON writes the result in the form that other programs read. Shares
// are of the requests that were offered; those that were late have not failed.
func (r Result) MarshalJSON() ([]byte, error) {
	arms := make([]jsonArm, len(r.Arms))
	for i := range r.Arms {
		arms[i] = r.Arms[i].json()
	}
	return json.Marshal(struct {
		Kind     string    `json:"kind"`
		Scenario string    `json:"scenario"`
		Seed     uint64    `json:"seed"`
		Arms     []jsonArm `json:"arms"`
		Events   uint64    `json:"events"`
		CPU      float64   `json:"cpu_s"`
		Hash     string    `json:"hash"`
	}{Kind, r.Name, r.Seed, arms, r.Events, r.CPU.Seconds(), hex(r.Hash)})
}

func (r *ArmResult) json() jsonArm {
	a := jsonArm{
		Name: r.Name, Offered: r.Offered.Mean, Goodput: mean(r.Goodput), Attempts: r.Attempts.Mean, Verdict: r.Verdict, Doubt: r.Doubt,
		Latency:  jsonLatency{milliseconds(r.Latency.Quantile(.5)), milliseconds(r.Latency.Quantile(.95)), milliseconds(r.Latency.Quantile(.99))},
		Verdicts: map[string]int{}, Fairness: mean(r.Fairness), Levels: jsonParts(r.Levels), Tenants: jsonParts(r.Tenants),
	}
	if r.Verdict == Recovers {
		a.Recovery = &r.Recovery.Mean
	}
	for v, n := range r.Verdicts {
		if n > 0 {
			a.Verdicts[Verdict(v).String()] = n
		}
	}
	for i := range r.Loads {
		l := &r.Loads[i]
		p := jsonPart{
			Name: l.Name, Offered: l.Offered.Mean, Goodput: mean(l.Goodput), Refused: l.Refused.Mean, Late: l.Late.Mean,
			Failed: max(l.Failed.Mean-l.Late.Mean, 0),
		}
		if i < len(r.Fair) {
			p.Fair = &r.Fair[i].Mean
		}
		if l.Tenants > 1 {
			p.Tenants, p.Starved = l.Tenants, &l.Starved.Mean
		}
		a.Loads = append(a.Loads, p)
	}
	return a
}

func jsonParts(all []PartResult) []jsonPart {
	var parts []jsonPart
	for i := range all {
		p := &all[i]
		parts = append(parts, jsonPart{Name: p.Name, Offered: p.Offered.Mean, Goodput: mean(p.Goodput),
			Refused: p.Refused.Mean, Late: p.Late.Mean, Failed: p.Failed.Mean})
	}
	return parts
}

func mean(i record.Interval) jsonMean {
	if i.N < 2 {
		return jsonMean{Mean: i.Mean}
	}
	return jsonMean{i.Mean, &i.Half}
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
