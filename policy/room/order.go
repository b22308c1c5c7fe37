package room

import "github.com/kalan-go/kalan/policy"

// choose returns the level that is served next: one that the guarantee owes a
// grant, otherwise the most important one that has waiters.
func (r *Room) choose() int {
	first := none
	for i := range r.levels {
		l := &r.levels[i]
		switch {
		case l.n == 0:
			l.earned = 0 // what nobody waits for is lent, not saved
		case first < 0:
			first = int32(i)
		case l.earned >= 1:
			return i
		}
	}
	return int(first)
}

// charge counts a grant to flow f of level i: its turn may be over, and every
// lower level that waits has come closer to its guarantee.
func (r *Room) charge(i int, f int32) {
	fl, l := &r.flows.all[f], &r.levels[i]
	if fl.credit <= 0 {
		fl.credit = fl.weight
	}
	if fl.credit--; fl.credit == 0 {
		l.turn = fl.ring.next
	}
	for j := range r.levels {
		if r.levels[j].n > 0 {
			r.levels[j].earned = min(r.levels[j].earned+r.config.Guarantee, 2)
		}
	}
	l.earned = max(0, l.earned-1)
}

// displace finds who has to give up its place to item, if anybody.
func (r *Room) displace(now policy.Instant, item *Item) Verdict {
	if r.len == 0 {
		return refuse(policy.Full)
	}
	if id, why := r.ended(now, r.age.head); id >= 0 {
		return r.put(now, id, why)
	}
	low := r.lowest()
	if id := r.victim(low, item); id >= 0 {
		return r.put(now, id, policy.Full)
	}
	return refuse(policy.Full)
}

func (r *Room) put(now policy.Instant, out int32, why policy.Reason) Verdict {
	r.counts.refuse(why)
	r.remove(now, out)
	return Verdict{Out: out, OutWhy: why}
}

// victim returns who of the lowest level has to go for item, none if item has
// no better right to the place.
func (r *Room) victim(low uint8, item *Item) int32 {
	l := &r.levels[low]
	largest := &r.flows.all[l.sizes[l.most]-1]
	newest := r.newestFirst()
	switch {
	case item.Level > low:
		return none
	case item.Level < low, r.sizeWith(item) < l.most:
		return largest.last(newest)
	case !newest:
		return none
	case r.waiters[r.age.head].item.Level == low:
		return r.age.head
	}
	return largest.last(newest)
}

// sizeWith returns the size of item's flow if item were let in.
func (r *Room) sizeWith(item *Item) int32 {
	f := flow{weight: int32(item.Weight)}
	if i := r.flows.find(item.Flow, item.Level); i >= 0 {
		f = r.flows.all[i]
	}
	f.n++
	return f.size()
}

// lowest returns the least important level that has waiters.
func (r *Room) lowest() uint8 {
	for i := Levels - 1; i > 0; i-- {
		if r.levels[i].n > 0 {
			return uint8(i)
		}
	}
	return 0
}
