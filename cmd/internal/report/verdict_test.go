package report

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kalan-go/kalan/sim"
	"github.com/kalan-go/kalan/sim/record"
)

// a returns an arm of a run of ten seconds with a trigger from the fourth to the
// sixth, that answers so much of 100 a second after it.
func a(name string, v sim.Verdict, after float64) sim.ArmResult {
	arm := sim.ArmResult{Name: name, Verdict: v, Bin: time.Second, Offered: record.Interval{Mean: 100}, Goodput: record.Interval{Mean: 95},
		Recovery: record.Interval{Mean: 1.5}, Troubles: []sim.Window{{Name: "stall", From: 4 * time.Second, To: 6 * time.Second}}}
	for i := range 10 {
		m := sim.Moment{At: time.Duration(i) * time.Second, Offered: 100, Answered: 100}
		if i >= 4 {
			m.Answered = after
		}
		arm.Series = append(arm.Series, m)
	}
	return arm
}

func TestHeadlines(t *testing.T) {
	quiet := a("quiet", sim.Stable, 40)
	quiet.Troubles, quiet.Goodput.Mean = nil, 40
	failing := a("failing", sim.Recovers, 100)
	failing.Checks = []sim.Check{{OK: true}, {Got: "1.5s"}, {Got: "2"}}
	if err := failing.Checks[1].Claim.UnmarshalText([]byte("recovery < 1s")); err != nil {
		t.Fatal(err)
	}
	doubtful, divided, grown := a("x", sim.Undecided, 99), a("x", sim.Metastable, 0), a("x", sim.Suffers, 40)
	unfairly := a("x", sim.Stable, 95)
	unfairly.Loads = []sim.LoadResult{{Name: "loop", Goodput: record.Interval{Mean: 90}}, {Name: "orders", Goodput: record.Interval{Mean: 5}}}
	unfairly.Fair, unfairly.Fairness = []record.Interval{{Mean: 75}, {Mean: 20}}, record.Interval{Mean: .7, N: 1}
	doubtful.Doubt, grown.Troubles = "the run ends 4 s after it", nil
	divided.Verdicts[sim.Metastable], divided.Verdicts[sim.Recovers] = 5, 5
	for _, c := range []struct {
		arms       []sim.ArmResult
		head, lead string
	}{
		{[]sim.ArmResult{a("", sim.Stable, 99)}, "Nothing is wrong: the system stays stable through “stall”.", "No expectation was written down, so none could fail."},
		{[]sim.ArmResult{a("x", sim.Recovers, 99), a("y", sim.Stable, 99)}, "Nothing is wrong: “x” recovers within 1.5 s after “stall”; “y” stays stable.", ""},
		{[]sim.ArmResult{a("x", sim.Recovers, 99), a("y", sim.Metastable, 0)},
			"“y” is metastable after “stall”: the trigger is over, and none of 100 requests a second is answered in time; “x” recovers within 1.5 s.", ""},
		{[]sim.ArmResult{a("x", sim.Suffers, 12), a("y", sim.Suffers, 0)}, "“x” and “y” suffer to the end under “stall”.", ""},
		{[]sim.ArmResult{a("x", sim.SlowDrain, 1)}, "The system drains slowly after “stall”: the trigger is over, and 1 of 100 requests a second is answered in time.", ""},
		{[]sim.ArmResult{a("x", sim.Collapsed, 1)}, "The system collapses without a trigger: 100 of 100 requests a second are answered in time before anything happens.", ""},
		{[]sim.ArmResult{quiet}, "The system stays stable, and badly so: 40 of 100 requests a second are answered in time.", ""},
		{[]sim.ArmResult{failing}, "2 of 3 expectations are not met: “recovery < 1s” was expected and it is 1.5s.", "The system recovers within 1.5 s after “stall”."},
		{[]sim.ArmResult{failing, quiet}, "2 of 3 expectations are not met: in “failing”, “recovery < 1s” was expected and it is 1.5s.", ""},
		{[]sim.ArmResult{a("x", sim.Metastable, 98)},
			"The system is metastable after “stall”, though 98 of 100 requests a second are answered in time in the second half of what follows.", ""},
		{[]sim.ArmResult{a("x", sim.Recovers, 40)}, "The system recovers within 1.5 s after “stall”; while it lasts, 40 % of the requests are answered in time.", ""},
		{[]sim.ArmResult{a("x", sim.Recovers, 40), a("y", sim.Stable, 95)},
			"“x” recovers within 1.5 s after “stall”; “y” stays stable; while it lasts, “x” answers 40 % of the requests in time and “y” 95 %.", ""},
		{[]sim.ArmResult{a("x", sim.Recovers, 40), a("y", sim.Recovers, 41)},
			"“x” and “y” recover after “stall”; while it lasts, no more than 41 % of the requests are answered in time.", ""},
		{[]sim.ArmResult{unfairly, a("y", sim.Stable, 95)}, "“x” and “y” stay stable through “stall”; in “x” “orders” gets 25 % of its fair share.", ""},
		{[]sim.ArmResult{doubtful, a("y", sim.Stable, 99)}, "“x” cannot be judged after “stall”: the run ends 4 s after it; “y” stays stable.", ""},
		{[]sim.ArmResult{divided}, "The system is metastable in 5 of 10 replications after “stall”: the trigger is over, and none of 100 requests a second is answered in time.", ""},
		{[]sim.ArmResult{grown}, "The system suffers to the end: 40 of 100 requests a second are answered in time.", ""},
		{nil, "Nothing was simulated.", ""},
	} {
		r := &sim.Result{Duration: 10 * time.Second, Arms: slices.Clone(c.arms)}
		if got := plain(headline(r).String()); got != c.head {
			t.Errorf("the headline is\n%s\nwant\n%s", got, c.head)
		}
		if got := plain(lead(r).String()); c.lead != "" && got != c.lead {
			t.Errorf("the lead is\n%s\nwant\n%s", got, c.lead)
		}
	}
}

func TestNamesAreListed(t *testing.T) {
	for n, want := range []string{"", "“a”", "“a” and “b”", "“a”, “b” and “c”", "4 arms"} {
		var s sentence
		s.names(strings.Split("abcde", "")[:n])
		if got := s.String(); got != want {
			t.Errorf("%d names are %s, want %s", n, got, want)
		}
	}
}

func TestStrides(t *testing.T) {
	for _, c := range []struct{ n, most, want int }{{0, 10, 1}, {10, 10, 1}, {11, 10, 2}, {30, 10, 5}, {60, 10, 10}, {2000, 240, 10}} {
		if got := stride(c.n, c.most); got != c.want {
			t.Errorf("%d in at most %d: %d in one, want %d", c.n, c.most, got, c.want)
		}
	}
}

func TestDataThatIsTooLongIsNotCopied(t *testing.T) {
	if got := copied("a,b\n"); got != "a,b\n" {
		t.Error(got)
	}
	if got := copied(strings.Repeat("x", mostDownload+1)); !strings.HasPrefix(got, "This has 1,048,577 bytes, too many for a page.") {
		t.Errorf("%.100s", got)
	}
}
