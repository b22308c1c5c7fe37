package sim

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kalan-go/kalan/sim/random"
)

// What arms do not have in common is said with their names: a queue that one of
// them bounds is without a bound in the others alone.
func TestAssumptionsAreThoseOfTheArms(t *testing.T) {
	to := Target{Service: "server"}
	s := Scenario{
		Name: "arms", Duration: time.Minute,
		Services: []Service{{Name: "server", Workers: 1, Work: random.Exponential(time.Millisecond), Instances: 3, Errors: .1}},
		Loads: []Load{
			{Name: "patient", To: to, Rate: 10, Tenants: 7, Keys: 9},
			{Name: "hasty", To: to, Rate: 10, Even: true, Deadline: time.Second},
			{Name: "starts", To: to, Bursts: []Burst{{Calls: 5}}, Client: &Client{Timeout: time.Second}},
		},
		Arms: []Arm{{Name: "bare"}, {Name: "bounded", Services: []Service{{Name: "server", Queue: Queue{Places: 4}, Cancels: true}}}},
	}
	got := s.assumptions()
	for _, want := range []string{
		`has a queue without a bound: server (in "bare")`,
		`finishes what its caller has left: server (in "bare")`,
		"is reached in no time: server",
		"each request goes to an instance at random, whatever the others have to do: server",
		"errors come at random, one independently of another, after all the work was done: server",
		"patient waits for ever: an answer is never too late for it",
		"patient is of 7 tenants who ask equally often",
		"patient asks for 9 values equally often: none is more popular than the others",
		"hasty comes at even distances, whatever becomes of it; latency counts from when it meant to come",
		"starts comes when the scenario says, whatever becomes of it",
		"the first 6s are not counted, and the verdict does not look at the last 1s, in which callers may still wait",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("nothing says %q in\n%s", want, strings.Join(got, "\n"))
		}
	}
	if text := fmt.Sprint(got); strings.Contains(text, "hasty waits for ever") || strings.Contains(text, "starts waits for ever") || strings.Contains(text, "share their caches") {
		t.Error(text)
	}
	for i := range 6 {
		s.Arms = append(s.Arms, Arm{Name: fmt.Sprint(i)})
	}
	if want := `has a queue without a bound: server (in "bare", "0", "1" and 4 others)`; !slices.Contains(s.assumptions(), want) {
		t.Errorf("nothing says %q in %v", want, s.assumptions())
	}
}
