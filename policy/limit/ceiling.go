package limit

// A ceiling is the number in flight beyond which a dependency refuses calls
// itself, as far as it has said. The zero ceiling is none.
//
// Not every refusal is about the number. A 429 may be meant for one caller, and
// a 503 come from one instance of many or of one kind of call: whoever believes
// each of them lets one caller in a hundred hold a dependency that has room down
// to one call at a time. A dependency that is full refuses those that come last
// and answers those before them; so a refusal is believed when those that began
// with at least as many in flight were refused too, but for a fifth of them.
type ceiling struct {
	most float64          // 0: none
	fine float64          // answers since it was moved
	last [witnesses]int32 // how many were in flight when the last calls began, negative where refused
	next uint8
}

const (
	// witnesses are the calls that a refusal is compared with. With twice as
	// many a dependency of 64 places is found later, with half as many one
	// refusal in twenty is too much.
	witnesses = 32
	// enough is how many have to be refused: one may have come first.
	enough = 3
	// outvoted is how many refusals one answer is worth.
	outvoted = 4
	// reward is how many answers raise the ceiling by one.
	reward = 100
)

// bound returns the smaller of a number of slots and the ceiling.
func (c *ceiling) bound(slots float64) float64 {
	if c.most > 0 {
		return min(slots, c.most)
	}
	return slots
}

func (c *ceiling) hear(n int32) {
	c.last[c.next%witnesses] = n
	c.next++
}

// refused is told that the dependency had no room for a call that began as the
// n-th in flight.
func (c *ceiling) refused(n int32) {
	c.hear(-n)
	alike, not := 0, 0
	for _, other := range c.last {
		switch {
		case other >= n:
			not++
		case other <= -n:
			alike++
		}
	}
	most := max(1, float64(n-1))
	if alike >= enough && alike > outvoted*not && (c.most == 0 || most < c.most) {
		c.most, c.fine = most, 0
	}
}

// answered is told that it had room for a call that began as the n-th in flight.
// The ceiling rises until it holds nobody back from that many slots.
func (c *ceiling) answered(n int32, slots float64) {
	c.hear(n)
	if c.most == 0 {
		return
	}
	if c.fine++; c.fine >= reward {
		c.most, c.fine = c.most+1, 0
	}
	if c.most > slots {
		c.most = 0
	}
}
