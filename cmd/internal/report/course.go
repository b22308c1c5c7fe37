package report

import (
	"time"

	"github.com/kalan-go/kalan/policy/span"
	"github.com/kalan-go/kalan/sim"
)

// A course is an arm's series in as many stretches as a chart has room for.
type course struct {
	arm     *sim.ArmResult
	step    time.Duration
	moments []sim.Moment
	end     time.Duration // of the run
	warmup  time.Duration
	// The first trigger's beginning and the last one's end; both are the run's
	// end when there is none.
	begins, ends time.Duration
}

const (
	// enough is how many requests a stretch has on average: with fewer, a line
	// shows chance alone.
	enough = 25
	// fewest is how many stretches there are all the same: a course has a shape.
	fewest = 20
)

// points returns into how many stretches the courses of all arms are divided: at
// most so many, and fewer when little happened.
func points(r *sim.Result, most int) int {
	for i := range r.Arms {
		a, requests := &r.Arms[i], 0.
		for j := range a.Series {
			requests += a.Series[j].Offered * a.Bin.Seconds() * float64(r.Replications)
		}
		most = min(most, max(int(requests/enough), fewest))
	}
	return most
}

// courseOf returns an arm's course in at most so many stretches.
func courseOf(r *sim.Result, a *sim.ArmResult, most int) *course {
	c := &course{arm: a, end: r.Duration, warmup: r.Warmup, begins: r.Duration}
	n := stride(len(a.Series), most)
	c.step = span.Mul(a.Bin, int64(n))
	for i := 0; i+n <= len(a.Series); i += n {
		c.moments = append(c.moments, mean(a.Series[i:i+n]))
	}
	for _, w := range a.Troubles {
		c.begins, c.ends = min(c.begins, w.From), max(c.ends, w.To)
	}
	if len(a.Troubles) == 0 {
		c.ends = r.Duration
	}
	return c
}

// stride returns how many of n to put into one so that at most so many remain:
// 1, 2 or 5 times a power of ten.
func stride(n, most int) int {
	for power := 1; ; power *= 10 {
		for _, m := range []int{1, 2, 5} {
			if n <= m*power*most {
				return m * power
			}
		}
	}
}

// mean returns the moments as one that begins with the first.
func mean(moments []sim.Moment) (sum sim.Moment) {
	n := float64(max(len(moments), 1))
	for i := range moments {
		m := &moments[i]
		sum.Offered += m.Offered / n
		sum.Answered += m.Answered / n
		sum.Attempts += m.Attempts / n
	}
	if len(moments) > 0 {
		sum.At = moments[0].At
	}
	return sum
}

// over returns the mean of the stretches of time that lie between two instants,
// and whether there is one.
func (c *course) over(from, to time.Duration) (sim.Moment, bool) {
	var inside []sim.Moment
	for i := range c.arm.Series {
		if m := &c.arm.Series[i]; m.At >= from && m.At+c.arm.Bin <= to {
			inside = append(inside, *m)
		}
	}
	return mean(inside), len(inside) > 0
}

// troubled reports whether anything happened to the arm.
func (c *course) troubled() bool { return len(c.arm.Troubles) > 0 }

// before returns what was between the warm-up and the first trigger.
func (c *course) before() (sim.Moment, bool) { return c.over(c.warmup, c.begins) }

// after returns what was in the second half of what follows the last trigger:
// there whoever recovers has had time to.
func (c *course) after() (sim.Moment, bool) { return c.over((c.ends+c.end)/2, c.end) }
