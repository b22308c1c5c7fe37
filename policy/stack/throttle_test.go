package stack_test

import (
	"testing"
	"time"

	"github.com/kalan-go/kalan/policy/stack"
	"github.com/kalan-go/kalan/policy/throttle"
)

// What the caller gave is his own: defaults are filled in, and what only observes
// is made to, in copies.
func TestTheCallersThrottleIsLeftAlone(t *testing.T) {
	given := throttle.Config{}
	c := stack.Config{Throttle: &given, Observe: true}
	if filled := c.WithDefaults(); filled.Throttle == &given || *filled.Throttle != given.WithDefaults() {
		t.Errorf("%+v, want the defaults in a copy", *filled.Throttle)
	}
	stack.New(c).Configure(0, c)
	if given != (throttle.Config{}) {
		t.Errorf("%+v now, and it was given with its zeros", given)
	}
}

func TestAThrottlesProblemsAreTheStacks(t *testing.T) {
	c := stack.Config{Throttle: &throttle.Config{K: .5, Window: time.Nanosecond}}
	found := map[string]bool{}
	for _, p := range c.Validate().Errors() {
		found[p.Path] = true
	}
	if len(found) != 2 || !found["throttle.k"] || !found["throttle.window"] {
		t.Errorf("problems at %v, want those of k and of the window", found)
	}
}
