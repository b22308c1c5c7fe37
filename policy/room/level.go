package room

// A level is one importance: its flows in a ring, and by size.
type level struct {
	n      int     // waiters
	turn   int32   // the flow whose turn it is
	sizes  []int32 // at [s], one more than the first flow of size s; 0 is none
	most   int32   // the largest size there is
	earned float64 // grants that the guarantee owes it
}

// join returns the flow that item belongs to, a new one if it has no waiters.
func (r *Room) join(item *Item) int32 {
	f := r.flows.find(item.Flow, item.Level)
	if f < 0 {
		f = r.flows.add(item.Flow, item.Level, item.Weight)
		r.line(f)
	}
	return f
}

// line puts a new flow into its level's ring: at the end of the round, and
// under overload at its front. With a flow for each caller the ring is the
// queue, and what holds for the newest call holds for the newest flow.
func (r *Room) line(f int32) {
	all, l := r.flows.all, &r.levels[r.flows.all[f].level]
	if l.turn < 0 {
		all[f].ring, l.turn = link{f, f}, f
		return
	}
	before := all[l.turn].ring.prev
	all[f].ring = link{before, l.turn}
	all[before].ring.next, all[l.turn].ring.prev = f, f
	if r.newestFirst() {
		l.turn = f
	}
}

// leaveLine takes a flow out of its level's ring.
func (r *Room) leaveLine(f int32) {
	all, l := r.flows.all, &r.levels[r.flows.all[f].level]
	at := all[f].ring
	all[at.prev].ring.next, all[at.next].ring.prev = at.next, at.prev
	switch {
	case at.next == f:
		l.turn = none
	case l.turn == f:
		l.turn = at.next
	}
}

// resize counts a waiter of flow f that came or went, and drops a flow that
// has none left.
func (r *Room) resize(f int32, by int32) {
	fl := &r.flows.all[f]
	l := &r.levels[fl.level]
	l.n += int(by)
	was := fl.size()
	fl.n += by
	if is := fl.size(); is != was {
		r.unrank(f, was)
		r.rank(f, is)
	}
	if fl.n == 0 {
		r.leaveLine(f)
		r.flows.drop(f)
	}
}

// rank lists flow f among those of its size.
func (r *Room) rank(f, size int32) {
	if size == 0 {
		return
	}
	all, l := r.flows.all, &r.levels[r.flows.all[f].level]
	for int(size) >= len(l.sizes) {
		l.sizes = append(l.sizes, 0)
	}
	first := l.sizes[size] - 1
	all[f].peers = link{none, first}
	if first >= 0 {
		all[first].peers.prev = f
	}
	l.sizes[size] = f + 1
	l.most = max(l.most, size)
}

// unrank takes flow f out of those of its size. Sizes change by one, so the
// next smaller one is the largest when this was the last of the largest.
func (r *Room) unrank(f, size int32) {
	if size == 0 {
		return
	}
	all, l := r.flows.all, &r.levels[r.flows.all[f].level]
	at := all[f].peers
	if at.prev < 0 {
		l.sizes[size] = at.next + 1
	} else {
		all[at.prev].peers.next = at.next
	}
	if at.next >= 0 {
		all[at.next].peers.prev = at.prev
	}
	if size == l.most && l.sizes[size] == 0 {
		l.most--
	}
}
