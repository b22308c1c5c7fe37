package report

import "github.com/kalan-go/kalan/sim"

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
	a := same[0]
	if len(same) > 1 {
		s.say(" " + fates[a.Verdict].many)
	} else {
		s.say(" " + fates[a.Verdict].one)
		if a.Verdict == sim.Recovers {
			s.say(" " + recovery(a))
		}
	}
	if first {
		s.cause(a)
	}
	if first && len(same) == 1 {
		s.evidence(courseOf(r, a, 1))
	}
}

// fates are the verdicts as verbs, and how a trigger is joined to them.
var fates = map[sim.Verdict]struct{ one, many, trigger string }{
	sim.Stable:     {"stays stable", "stay stable", "through"},
	sim.Recovers:   {"recovers", "recover", "after"},
	sim.Suffers:    {"suffers to the end", "suffer to the end", "under"},
	sim.SlowDrain:  {"drains slowly", "drain slowly", "after"},
	sim.Metastable: {"is metastable", "are metastable", "after"},
	sim.Collapsed:  {"collapses without a trigger", "collapse without a trigger", ""},
}

// cause names the trigger, or says how many there were.
func (s *sentence) cause(a *sim.ArmResult) {
	join := fates[a.Verdict].trigger
	switch n := len(a.Troubles); {
	case n == 0 || join == "":
	case n > 1:
		s.say(" " + join + " " + plural(n, "trigger"))
	default:
		s.say(" " + join + " ")
		s.name(a.Troubles[0].Name)
	}
}

// evidence says the figure that the verdict of one arm rests on.
func (s *sentence) evidence(c *course) {
	switch c.arm.Verdict {
	case sim.Stable:
		if m := (sim.Moment{Offered: c.arm.Offered.Mean, Answered: c.arm.Goodput.Mean}); m.Answered < mostly*m.Offered {
			s.say(", and badly so: " + answered(m))
		}
	case sim.Metastable, sim.SlowDrain:
		m, ok := c.after()
		switch {
		case ok && m.Answered >= mostly*m.Offered:
			s.say(" as far as this run can tell: it was well again too late to be sure; play it longer")
		case ok:
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
