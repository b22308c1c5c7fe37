package budget

import "github.com/kalan-go/kalan/policy"

// A Snapshot is a budget at one instant, for display.
type Snapshot struct {
	// Calls and Extra are the first attempts and the extra attempts of the
	// window; with InFlight those that are under way.
	Calls, Extra int64
	// Running is how many extra attempts are decided or running now, whatever
	// their age: the in-flight view. Outlived is how many of them are older
	// than the window.
	Running, Outlived int64
	// Left is how many more extra attempts would be allowed now.
	Left int64
	// Floor reports whether the floor counts at the moment.
	Floor bool
	// Denied is how often an extra attempt was refused since the start: 0
	// means that the budget never bound.
	Denied int64
}

// Snapshot returns the budget at now. It changes no decision.
func (b *Budget) Snapshot(now policy.Instant) Snapshot {
	if b == nil {
		return Snapshot{}
	}
	seen := *b
	seen.advance(now)
	return Snapshot{
		Calls:    seen.total.calls,
		Extra:    seen.total.extra,
		Running:  seen.total.running + seen.old,
		Outlived: seen.old,
		Left:     seen.left(),
		Floor:    seen.heard.good(),
		Denied:   seen.denied,
	}
}
