// Package field is how a configuration says what is wrong with it: all
// problems at once, each with the name of its field and with what to write
// instead.
package field

import (
	"fmt"
	"strings"
	"time"

	"github.com/kalan-go/kalan/policy"
)

// Default gives a field that was left out its documented value.
func Default[T comparable](field *T, value T) {
	var none T
	if *field == none {
		*field = value
	}
}

// A Check collects the problems of one configuration. The zero value is ready.
type Check struct {
	problems policy.Problems
}

// Problems returns what was found, nil when everything is well.
func (c *Check) Problems() policy.Problems { return c.problems }

// Refuse reports the field at path as wrong.
func (c *Check) Refuse(path, text string, args ...any) {
	c.problems = append(c.problems, policy.Problem{Path: path, Text: fmt.Sprintf(text, args...)})
}

// Warn reports the field at path as allowed and probably not meant.
func (c *Check) Warn(path, text string, args ...any) {
	c.problems = append(c.problems, policy.Problem{Path: path, Text: fmt.Sprintf(text, args...), Warning: true})
}

// Add takes over the problems of a part, as its own Validate reported them.
func (c *Check) Add(problems policy.Problems) { c.problems = append(c.problems, problems...) }

// Duration refuses a negative duration.
func (c *Check) Duration(path string, d time.Duration) {
	if d < 0 {
		c.Refuse(path, "%v is negative; write a duration such as 5s, or leave it out", d)
	}
}

// Count refuses a number that is not between 1 and most.
func (c *Check) Count(path string, n, most int) {
	if n < 1 || n > most {
		c.Refuse(path, "%d is out of range; write a number from 1 to %d", n, most)
	}
}

// Number refuses a number outside [low, high], and what is no number at all.
func (c *Check) Number(path string, f, low, high float64) {
	if !(f >= low && f <= high) { // NaN is neither
		c.Refuse(path, "%v is out of range; write a number from %v to %v", f, low, high)
	}
}

// Error returns the problems that are not warnings as the error of a New, with
// what was to be made and its name, nil when there are none.
func Error(kind, name string, problems policy.Problems) error {
	err := problems.Err()
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s:\n%w", strings.TrimSpace(kind+" "+name), err)
}
