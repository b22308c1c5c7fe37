package room

// A flow is somebody who has calls waiting at one level.
type flow struct {
	key     uint32
	level   uint8
	weight  int32
	credit  int32 // grants left in its turn
	n       int32 // waiters
	waiters list
	ring    link  // its level's flows in turn
	peers   link  // flows of the same size
	chain   int32 // next in the hash table, or in the list of unused flows
}

// next returns who of the flow is served next.
func (f *flow) next(newest bool) int32 {
	if newest {
		return f.waiters.tail
	}
	return f.waiters.head
}

// last returns who of the flow would be served last.
func (f *flow) last(newest bool) int32 { return f.next(!newest) }

// size is how large a consumer the flow is: waiters for each turn's grants,
// rounded up. It changes by at most one when a waiter comes or goes.
func (f *flow) size() int32 { return (f.n + f.weight - 1) / f.weight }

// A table holds the flows that have waiters. Each waiter belongs to one, so
// there are never more flows than waiters; their memory is used again.
type table struct {
	all   []flow
	heads []int32 // hash chains, one more than the index; 0 is none
	free  int32   // unused flows, one more than the index; 0 is none
	used  int
}

// find returns the flow of key at level, none if it has no waiters.
func (t *table) find(key uint32, level uint8) int32 {
	if len(t.heads) == 0 {
		return none
	}
	i := *t.head(key, level) - 1
	for i >= 0 && (t.all[i].key != key || t.all[i].level != level) {
		i = t.all[i].chain
	}
	return i
}

// head returns the chain of key at level. The multiplier spreads keys that are
// small numbers (Knuth, volume 3, 6.4).
func (t *table) head(key uint32, level uint8) *int32 {
	h := (uint64(key)<<8 | uint64(level)) * 0x9E3779B97F4A7C15
	return &t.heads[h>>32&uint64(len(t.heads)-1)]
}

// add returns a new flow for key at level.
func (t *table) add(key uint32, level uint8, weight uint8) int32 {
	if t.used >= len(t.heads) {
		t.rehash(max(16, 2*len(t.heads)))
	}
	i := t.free - 1
	if i < 0 {
		t.all = append(t.all, flow{})
		i = int32(len(t.all) - 1)
	} else {
		t.free = t.all[i].chain
	}
	t.all[i] = flow{key: key, level: level, weight: int32(weight), waiters: empty}
	t.chain(i)
	t.used++
	return i
}

func (t *table) chain(i int32) {
	head := t.head(t.all[i].key, t.all[i].level)
	t.all[i].chain, *head = *head-1, i+1
}

// drop forgets flow i, which has no waiters.
func (t *table) drop(i int32) {
	head := t.head(t.all[i].key, t.all[i].level)
	if *head-1 == i {
		*head = t.all[i].chain + 1
	} else {
		at := *head - 1
		for t.all[at].chain != i {
			at = t.all[at].chain
		}
		t.all[at].chain = t.all[i].chain
	}
	t.all[i].n, t.all[i].chain, t.free = 0, t.free, i+1
	t.used--
}

func (t *table) rehash(n int) {
	t.heads = make([]int32, n)
	for i := range t.all {
		if t.all[i].n > 0 {
			t.chain(int32(i))
		}
	}
}
