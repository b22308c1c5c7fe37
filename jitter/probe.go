package jitter

import (
	"time"

	"github.com/kalan-go/kalan/internal/field"
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/span"
)

// A Probe is the startup probe that watches a process while it waits for its
// turn, in the words of a pod's manifest. A zero field is what Kubernetes takes
// for it: no initial delay, every 10 s, 3 failures.
type Probe struct {
	// InitialDelay passes before the first probe (initialDelaySeconds).
	InitialDelay time.Duration `yaml:"initial_delay"`
	// Period is the time from one probe to the next (periodSeconds).
	Period time.Duration `yaml:"period"`
	// Failures is how many probes may fail before the process is killed
	// (failureThreshold).
	Failures int `yaml:"failures"`
}

// WithDefaults returns p with what was left out filled in.
func (p Probe) WithDefaults() Probe {
	field.Default(&p.Period, 10*time.Second)
	field.Default(&p.Failures, 3)
	return p
}

// Budget returns how long a process may take to start: initial delay plus
// failures x period.
func (p Probe) Budget() time.Duration {
	p = p.WithDefaults()
	return span.Add(p.InitialDelay, span.Mul(p.Period, int64(p.Failures)))
}

// Check reports whether replicas processes that start by s, each of which then
// needs boot until it answers, pass the startup probe, and whether the stages
// are apart at all. A probe that is too impatient kills the processes at the
// end of the line each time, so that only the first ones ever start.
func (s Start) Check(p Probe, replicas int, boot time.Duration) policy.Problems {
	var check field.Check
	s, p = s.WithDefaults(), p.WithDefaults()
	if p.InitialDelay < 0 || p.Period < 0 || p.Failures < 0 {
		check.Refuse("probe", "has a negative field; write what the manifest says")
		return check.Problems()
	}
	need := span.Add(s.Longest(), max(boot, 0))
	// The failure that kills comes one period before the budget ends: the first
	// probe is made at once.
	sure := span.Add(p.InitialDelay, span.Mul(p.Period, int64(p.Failures)-1))
	enough := failuresFor(need, p)
	switch {
	case p.Budget() < need:
		check.Refuse("probe.failures", "%d x %v allows %v, and the last process needs %v; write at least %d", p.Failures, p.Period, p.Budget(), need, enough)
	case sure < need:
		check.Warn("probe.failures", "%d x %v allows %v, but the last of these failures comes after %v already, and the last process needs %v; write %d", p.Failures, p.Period, p.Budget(), sure, need, enough)
	}
	if s.Step > 0 && replicas > 0 {
		s.together(&check, replicas)
	}
	return check.Problems()
}

// failuresFor returns the threshold that even the earliest count passes.
func failuresFor(need time.Duration, p Probe) int64 {
	rest := max(span.Sub(need, p.InitialDelay), 0)
	return int64((rest-1)/max(p.Period, 1)) + 2
}

// together warns when several processes share the end of the line.
func (s Start) together(check *field.Check, replicas int) {
	last := span.Mul(s.Step, int64(replicas)-1)
	if last <= s.Cap {
		return
	}
	early := int64(span.Add(s.Cap, s.Step-1) / s.Step) // those whose turn comes before the cap
	check.Warn("cap", "%d of %d processes start within the %v behind the cap of %v; write a cap of %v", int64(replicas)-early, replicas, s.jitter(false), s.Cap, last)
}
