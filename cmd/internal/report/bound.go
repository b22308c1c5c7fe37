package report

import (
	"cmp"
	"slices"

	"github.com/kalan-go/kalan/sim"
)

// A page is opened on a phone. These bounds keep it to some megabytes, whatever
// was simulated; all of the figures are in `--format json`.
const (
	mostArms     = 40
	mostThings   = 50      // of a kind in a table: services, loads, edges
	mostDownload = 1 << 20 // bytes of data to copy
)

// shown returns the result with the arms that a page has room for: those with
// the worst verdicts, in the order of the file.
func shown(r *sim.Result) *sim.Result {
	if len(r.Arms) <= mostArms {
		return r
	}
	order := make([]int, len(r.Arms))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		a, b := &r.Arms[i], &r.Arms[j]
		return cmp.Or(cmp.Compare(failures(b), failures(a)), cmp.Compare(b.Verdict, a.Verdict))
	})
	order = order[:mostArms]
	slices.Sort(order)
	few := *r
	few.Arms = nil
	for _, i := range order {
		few.Arms = append(few.Arms, r.Arms[i])
	}
	return &few
}

// failures returns how many of an arm's expectations are not met.
func failures(a *sim.ArmResult) (n int) {
	for _, c := range a.Checks {
		if !c.OK {
			n++
		}
	}
	return n
}

// omitted says what the page leaves out; empty when it leaves out nothing.
func omitted(r *sim.Result) string {
	if len(r.Arms) <= mostArms {
		return ""
	}
	return "The page shows " + plural(mostArms, "arm") + " of " + count(uint64(len(r.Arms))) + ", those that fared worst; --format json has all of them."
}

// copied returns data to copy, or what to do instead where it is too long.
func copied(text string) string {
	if len(text) <= mostDownload {
		return text
	}
	return "This has " + count(uint64(len(text))) + " bytes, too many for a page. The same command with --format json writes all figures.\n"
}
