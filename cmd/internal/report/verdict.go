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
	case worst(r) > sim.Recovers || !wellServed(r):
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
	s.say(strconv.Itoa(len(unmet)) + " of " + plural(all, "expectation") + verb)
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

func wellServed(r *sim.Result) bool {
	for i := range r.Arms {
		if a := &r.Arms[i]; a.Goodput.Mean < mostly*a.Offered.Mean {
			return false
		}
	}
	return true
}

// story says what became of the arms, the worst first.
func story(r *sim.Result) (s sentence) {
	for v := sim.Collapsed; ; v-- {
		var same []*sim.ArmResult
		for i := range r.Arms {
			if r.Arms[i].Verdict == v {
				same = append(same, &r.Arms[i])
			}
		}
		if len(same) > 0 {
			first := len(s) == 0
			if !first {
				s.say("; ")
			}
			s.about(r, same, first)
		}
		if v == sim.Stable {
			s.say(".")
			return s
		}
	}
}

// about says what became of the arms that have one verdict, and after what if
// it has not been said.
func (s *sentence) about(r *sim.Result, same []*sim.ArmResult, first bool) {
	if len(r.Arms) == 1 {
		s.say("The system")
	} else {
		names := make([]string, len(same))
		for i, a := range same {
			names[i] = a.Name
		}
		s.names(names)
	}
	words := fates[same[0].Verdict]
	if len(same) > 1 {
		s.say(" " + words.many)
	} else {
		s.say(" " + words.one)
	}
	if len(same) == 1 && same[0].Verdict == sim.Recovers {
		s.say(" " + recovery(same[0]))
	}
	if first {
		s.after(same[0])
	}
	if first && len(same) == 1 {
		s.evidence(courseOf(r, same[0], 1))
	}
}

var fates = map[sim.Verdict]struct{ one, many string }{
	sim.Stable:     {"stays stable", "stay stable"},
	sim.Recovers:   {"recovers", "recover"},
	sim.Suffers:    {"suffers to the end", "suffer to the end"},
	sim.SlowDrain:  {"drains slowly", "drain slowly"},
	sim.Metastable: {"is metastable", "are metastable"},
	sim.Collapsed:  {"collapses without a trigger", "collapse without a trigger"},
}

// after names what it is that came before.
func (s *sentence) after(a *sim.ArmResult) {
	switch {
	case a.Verdict == sim.Collapsed || len(a.Troubles) == 0:
		return
	case len(a.Troubles) > 1:
		s.say(map[bool]string{true: " through ", false: " after "}[a.Verdict == sim.Stable] + plural(len(a.Troubles), "trigger"))
		return
	}
	words := map[sim.Verdict]string{sim.Stable: " through ", sim.Suffers: " under "}[a.Verdict]
	if words == "" {
		words = " after "
	}
	s.say(words)
	s.name(a.Troubles[0].Name)
}

// evidence says the figure that the verdict of one arm rests on.
func (s *sentence) evidence(c *course) {
	switch c.arm.Verdict {
	case sim.Stable:
		if m := (sim.Moment{Offered: c.arm.Offered.Mean, Answered: c.arm.Goodput.Mean}); m.Answered < mostly*m.Offered {
			s.say(", and badly so: " + answered(m))
		}
	case sim.Metastable, sim.SlowDrain:
		if m, ok := c.after(); ok {
			s.say(": the trigger is over, and " + answered(m))
		}
	case sim.Suffers:
		if m, ok := c.over(c.begins, c.end); ok {
			s.say(": " + answered(m))
		}
	case sim.Collapsed:
		if m, ok := c.before(); ok {
			s.say(": " + answered(m) + " before anything happens")
		}
	}
}

// answered says how much of what is asked is answered.
func answered(m sim.Moment) string {
	of := " of " + amount(m.Offered) + " requests a second "
	switch got := amount(m.Answered); got {
	case "0":
		return "none" + of + "is answered in time"
	case "1":
		return "1" + of + "is answered in time"
	default:
		return got + of + "are answered in time"
	}
}

// recovery says how long an arm took to recover.
func recovery(a *sim.ArmResult) string {
	if a.Recovery.Mean < a.Bin.Seconds() {
		return "at once"
	}
	return "within " + inSeconds(a.Recovery.Mean)
}

// lower begins a sentence in small letters, for it follows a colon.
func lower(s sentence) sentence {
	if len(s) > 0 && !s[0].IsName && len(s[0].Text) > 0 && s[0].Text[:1] == "T" {
		s[0].Text = "t" + s[0].Text[1:]
	}
	return s
}
