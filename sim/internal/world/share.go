package world

import (
	"time"

	"github.com/kalan-go/kalan/policy"
)

// A crowd is everybody who shares the workers of an instance (processor
// sharing). What each has been given since time began is the same for all, so
// it is enough to know at how much of it each will be done.
type crowd struct {
	given   float64 // work given to each, in nanoseconds
	counted policy.Instant
	members []member // a heap: who is done first
	gen     uint32   // of the departure that is pending
}

type member struct {
	at    float64 // of crowd.given
	visit int32
}

// share lets a visit's work begin among the others'.
func (w *World) share(in *instance, id int32) {
	c := in.shared
	w.giveOut(in)
	c.push(member{c.given + float64(w.visits[id].work), id})
	w.expectDeparture(in)
}

// depart ends the work of whoever was to be done first.
func (w *World) depart(i int32, gen uint32) {
	in := &w.instances[i]
	if in.shared == nil || in.shared.gen != gen {
		return
	}
	w.giveOut(in)
	first := in.shared.members[0]
	in.shared.remove(0)
	in.shared.given = max(in.shared.given, first.at) // rounding must not hold anybody up
	w.expectDeparture(in)
	w.finish(first.visit)
}

// leaveCrowd takes out a visit that is cut off in its work.
func (w *World) leaveCrowd(in *instance, id int32) {
	w.giveOut(in)
	for i, m := range in.shared.members {
		if m.visit == id {
			in.shared.remove(i)
			break
		}
	}
	w.expectDeparture(in)
}

// giveOut counts what everybody has been given up to now.
func (w *World) giveOut(in *instance) {
	c := in.shared
	if n := len(c.members); n > 0 {
		c.given += in.done(c.counted, w.now) / c.slower(w.workers(in))
	}
	c.counted = w.now
}

// slower is how many times longer work takes than alone.
func (c *crowd) slower(workers int) float64 {
	return max(1, float64(len(c.members))/float64(workers))
}

func (w *World) workers(in *instance) int { return max(w.m.Services[in.service].Workers, 1) }

func (w *World) expectDeparture(in *instance) {
	c := in.shared
	c.gen++
	if len(c.members) == 0 {
		return
	}
	left := max(c.members[0].at-c.given, 0) * c.slower(w.workers(in))
	place := w.visits[c.members[0].visit].instance
	w.push(in.after(w.now, time.Duration(left+0.5)), departs, place, c.gen)
}

// done returns how much work one worker does between two instants.
func (in *instance) done(from, to policy.Instant) float64 {
	sum := float64(to - from)
	for _, s := range in.speeds {
		if a, b := max(from, s.From), min(to, s.To); a < b {
			sum -= float64(b-a) * (1 - s.Rate)
		}
	}
	return sum
}

func (c *crowd) push(m member) {
	c.members = append(c.members, m)
	c.rise(len(c.members) - 1)
}

func (c *crowd) remove(i int) {
	last := len(c.members) - 1
	c.members[i] = c.members[last]
	c.members = c.members[:last]
	if i < last {
		c.sink(i)
		c.rise(i)
	}
}

func (c *crowd) rise(i int) {
	m := c.members
	for i > 0 && m[i].at < m[(i-1)/2].at {
		m[i], m[(i-1)/2] = m[(i-1)/2], m[i]
		i = (i - 1) / 2
	}
}

func (c *crowd) sink(i int) {
	m := c.members
	for {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(m); child++ {
			if m[child].at < m[least].at {
				least = child
			}
		}
		if least == i {
			return
		}
		m[i], m[least] = m[least], m[i]
		i = least
	}
}
