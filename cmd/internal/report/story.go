package report

import (
	"strconv"

	"github.com/kalan-go/kalan/sim"
)

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
			s.meanwhile(r)
			s.unfair(r)
			s.say(".")
			return s
		}
	}
}

// meanwhile says what was answered while the trigger lasted, where everybody
// came back: what became of the arms then is no difference between them.
func (s *sentence) meanwhile(r *sim.Result) {
	least, best, ok := during(r)
	if !ok || worst(r) > sim.Recovers || least.share >= mostly {
		return
	}
	switch {
	case len(r.Arms) == 1:
		s.say("; while it lasts, " + percent(least.share) + " of the requests are answered in time")
	case best.share-least.share < 0.05:
		s.say("; while it lasts, no more than " + percent(best.share) + " of the requests are answered in time")
	default:
		s.say("; while it lasts, ")
		s.name(least.arm)
		s.say(" answers " + percent(least.share) + " of the requests in time and ")
		s.name(best.arm)
		s.say(" " + percent(best.share))
	}
}

// An endurance is the share of the requests that an arm answered while its
// triggers lasted.
type endurance struct {
	arm   string
	share float64
}

// during returns the arms that answered least and most while their triggers
// lasted, and whether all of them had some.
func during(r *sim.Result) (least, best endurance, ok bool) {
	for i := range r.Arms {
		c := courseOf(r, &r.Arms[i], 1)
		m, seen := c.over(c.begins, c.ends)
		if !c.troubled() || !seen || m.Offered <= 0 {
			return least, best, false
		}
		e := endurance{r.Arms[i].Name, m.Answered / m.Offered}
		if i == 0 || e.share < least.share {
			least = e
		}
		if i == 0 || e.share > best.share {
			best = e
		}
	}
	return least, best, len(r.Arms) > 0
}

// fairly is the index below which somebody was served at another's cost.
const fairly = 0.9

// unfair names the load that got least of what would have been fair, in the arm
// that was least fair.
func (s *sentence) unfair(r *sim.Result) {
	var arm *sim.ArmResult
	for i := range r.Arms {
		if a := &r.Arms[i]; a.Fairness.N > 0 && a.Fairness.Mean < fairly && (arm == nil || a.Fairness.Mean < arm.Fairness.Mean) {
			arm = a
		}
	}
	if arm == nil {
		return
	}
	who, least := 0, 2.
	for i := range arm.Fair {
		if fair := arm.Fair[i].Mean; fair > 0 && arm.Loads[i].Goodput.Mean/fair < least {
			who, least = i, arm.Loads[i].Goodput.Mean/fair
		}
	}
	s.say("; ")
	if len(r.Arms) > 1 {
		s.say("in ")
		s.name(arm.Name)
		s.say(" ")
	}
	s.name(arm.Loads[who].Name)
	s.say(" gets " + percent(least) + " of its fair share")
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
		if n, all := a.Verdicts[a.Verdict], replications(a); n < all {
			s.say(" in " + strconv.Itoa(n) + " of " + plural(all, "replication"))
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
	sim.Undecided:  {"cannot be judged", "cannot be judged", "after"},
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
	case sim.Undecided:
		if c.arm.Doubt != "" {
			s.say(": " + c.arm.Doubt)
		}
	case sim.Metastable, sim.SlowDrain:
		m, ok := c.after()
		switch {
		case ok && m.Answered >= mostly*m.Offered:
			s.say(", though " + answered(m) + " in the second half of what follows")
		case ok:
			s.say(": the trigger is over, and " + answered(m))
		}
	case sim.Suffers:
		from := c.begins
		if !c.troubled() { // load grew beyond what can be answered
			from = c.end - c.end/5
		}
		if m, ok := c.over(from, c.end); ok {
			s.say(": " + answered(m))
		}
	case sim.Collapsed:
		if m, ok := c.before(); ok && c.troubled() {
			s.say(": " + answered(m) + " before anything happens")
		} else if m, ok := c.over(c.end-c.end/5, c.end); ok {
			s.say(": " + answered(m) + " at the end")
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
