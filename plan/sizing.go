package plan

import (
	"fmt"

	"github.com/kalan-go/kalan/internal/figure"
)

// A Sizing is what was seen of a retry budget under one kind of conditions.
type Sizing struct {
	// Ratio is the budget's.
	Ratio float64
	// Conditions names them: "normal".
	Conditions string
	// Usual says that these are the conditions of every day, in which a budget
	// should not bind; in all others it should.
	Usual bool
	// Without and With are the calls made for each call meant, without and
	// with the budget.
	Without, With float64
	// Bound says that the budget refused at least one retry.
	Bound bool
}

// String says whether the budget binds, and what that means for its size: one
// that never binds in normal conditions and binds in a slowdown is sized right
// (B10).
func (s Sizing) String() string {
	budget := fmt.Sprintf("the retry budget of %s", figure.Fixed(s.Ratio, 2))
	without, with := figure.Fixed(s.Without, 2), figure.Fixed(s.With, 2)
	switch {
	case s.Usual && !s.Bound:
		return fmt.Sprintf("%s: %s is not binding (multiplier %s < %s), as it should be in normal conditions.",
			s.Conditions, budget, with, figure.Fixed(1+s.Ratio, 2))
	case s.Usual:
		return fmt.Sprintf("%s: %s is binding (multiplier %s -> %s): it is too small, since it refuses retries that repair ordinary bad luck.",
			s.Conditions, budget, without, with)
	case s.Bound:
		return fmt.Sprintf("%s: %s is binding (multiplier %s -> %s), as it should be in a slowdown.", s.Conditions, budget, without, with)
	}
	return fmt.Sprintf("%s: %s is not binding (multiplier %s): it is too large, since it lets the slowdown multiply its own load.",
		s.Conditions, budget, with)
}

// Verdict says of a budget that was seen under several conditions whether it is
// sized right, or nothing when its Sizings already say what is wrong, or when
// it was not seen both in usual and in other conditions.
func Verdict(seen []Sizing) string {
	var usual, other int
	for _, s := range seen {
		switch {
		case s.Usual == s.Bound:
			return ""
		case s.Usual:
			usual++
		default:
			other++
		}
	}
	if usual == 0 || other == 0 {
		return ""
	}
	return fmt.Sprintf("The retry budget of %s is sized right: it never binds in normal conditions, and it binds in a slowdown.",
		figure.Fixed(seen[0].Ratio, 2))
}
