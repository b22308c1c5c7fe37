package report

import (
	"strconv"

	"github.com/kalan-go/kalan/sim"
)

// headline says in one sentence what is wrong, or that nothing is.
func headline(r *sim.Result) sentence {
	unmet, _ := checked(r)
	switch {
	case len(r.Arms) == 0:
		return sentence{{Text: "Nothing was simulated."}}
	case len(unmet) > 0:
		return disappointment(r)
	case worst(r) > sim.Recovers || !wellServed(r) || !endured(r) || !fair(r):
		return story(r)
	}
	s := sentence{{Text: "Nothing is wrong: "}}
	return append(s, lower(story(r))...)
}

// lead says what the headline left open.
func lead(r *sim.Result) sentence {
	unmet, all := checked(r)
	var s sentence
	switch {
	case len(unmet) > 0:
		return story(r)
	case all == 0:
		s.say("No expectation was written down, so none could fail.")
	case all == 1:
		s.say("The one expectation is met.")
	case all == 2:
		s.say("Both expectations are met.")
	default:
		s.say("All " + plural(all, "expectation") + " are met.")
	}
	return s
}

// checked returns the checks that failed, and how many there are.
func checked(r *sim.Result) (unmet []sim.Check, all int) {
	for i := range r.Arms {
		for _, c := range r.Arms[i].Checks {
			if all++; !c.OK {
				unmet = append(unmet, c)
			}
		}
	}
	return unmet, all
}

func worst(r *sim.Result) sim.Verdict {
	w := sim.Stable
	for i := range r.Arms {
		w = max(w, r.Arms[i].Verdict)
	}
	return w
}

// disappointment says how many expectations are not met, and the first of them.
func disappointment(r *sim.Result) (s sentence) {
	unmet, all := checked(r)
	verb := " are not met"
	if len(unmet) == 1 {
		verb = " is not met"
	}
	if all == 1 {
		s.say("The one expectation" + verb)
	} else {
		s.say(strconv.Itoa(len(unmet)) + " of " + plural(all, "expectation") + verb)
	}
	for i := range r.Arms {
		for _, c := range r.Arms[i].Checks {
			if c.OK {
				continue
			}
			if s.say(": "); len(r.Arms) > 1 {
				s.say("in ")
				s.name(r.Arms[i].Name)
				s.say(", ")
			}
			s.name(c.Claim.String())
			s.say(" was expected and it is " + c.Got + ".")
			return s
		}
	}
	return s
}

// mostly is the share of its requests that an arm has to answer before anybody
// says that nothing is wrong. Stable can be bad: all the time.
const mostly = 0.9

// endured reports whether most was answered in all arms while triggers lasted.
func endured(r *sim.Result) bool {
	least, _, ok := during(r)
	return !ok || least.share >= mostly
}

// fair reports whether no load was served at another's cost.
func fair(r *sim.Result) bool {
	for i := range r.Arms {
		if f := r.Arms[i].Fairness; f.N > 0 && f.Mean < fairly {
			return false
		}
	}
	return true
}

func wellServed(r *sim.Result) bool {
	for i := range r.Arms {
		if a := &r.Arms[i]; a.Goodput.Mean < mostly*a.Offered.Mean {
			return false
		}
	}
	return true
}
