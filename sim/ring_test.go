package sim

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/kalan-go/kalan/sim/random"
)

// ring is a closed loop of clients who do not think, at one worker.
func ring(clients int, work time.Duration) Scenario {
	return Scenario{
		Name: "loop", Duration: 10 * time.Minute, Replications: 2,
		Services: []Service{{Name: "server", Workers: 1, Work: random.Constant(work)}},
		Loads:    []Load{{Name: "callers", To: Target{Service: "server"}, Clients: clients}},
	}
}

// Answers that take no time, good ones and refusals, do not let the clock of a
// closed loop stand still: whoever does not think takes a breath.
func TestAnswersInNoTimeDoNotStopTheClock(t *testing.T) {
	for name, test := range map[string]struct {
		change  func(*Scenario)
		offered float64 // a second
	}{
		"no work": {func(s *Scenario) { s.Services[0].Workers, s.Services[0].Work = 0, random.Law{} }, 10_000},
		"refused": {func(s *Scenario) { s.Services[0].Queue.Places = -1 }, 200 + 9*1000}, // one is served, nine are not
		"closed": {func(s *Scenario) {
			s.Triggers = []Trigger{{Name: "gone", What: Restart, Of: s.Loads[0].To, At: 1}}
		}, 10_000},
		"a network": {func(s *Scenario) {
			s.Services[0].Work, s.Services[0].Network = random.Law{}, random.Constant(time.Millisecond/2)
		}, 10_000},
	} {
		s := ring(10, 5*time.Millisecond)
		s.Duration, s.Warmup = 10*time.Second, -1
		test.change(&s)
		if err := s.Validate().Err(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		r, err := Run(s, Options{})
		if got := r.Arms[0].Offered.Mean; err != nil || math.Abs(got/test.offered-1) > .01 {
			t.Errorf("%s: %v a second, want %v (%v)", name, got, test.offered, err)
		}
	}
}

// A closed loop waits with as many requests as it has clients, however long it
// is played; one that gives up leaves requests behind.
func TestAClosedLoopPilesUpWhatItLeavesBehind(t *testing.T) {
	s := ring(500, 10*time.Millisecond)
	if err := s.Validate().Err(); err != nil {
		t.Error(err)
	}
	s.Loads[0].Client = &Client{Timeout: 10 * time.Millisecond}
	if err := s.Validate().Err(); err == nil || !strings.Contains(err.Error(), "up to 2.99e+07 requests would wait at once") {
		t.Errorf("with a time limit: %v", err)
	}
	s.Loads[0].Client = nil
	s.Services = append(s.Services, Service{Name: "gateway", Script: []Step{{Action: Action{Call: Target{Service: "server"}}}}})
	s.Loads[0].To.Service = "gateway"
	if err := s.Validate().Err(); err != nil {
		t.Error(err)
	}
	s.Services[1].Client = &Client{Timeout: 10 * time.Millisecond}
	if err := s.Validate().Err(); err == nil || !strings.Contains(err.Error(), "requests would wait at once") {
		t.Errorf("with a time limit on the way: %v", err)
	}
}

// A run that takes more events than could be foreseen ends, whichever of its
// replications is the one that does.
func TestARunThatOutgrowsItsEventsEnds(t *testing.T) {
	s := ring(10, time.Millisecond)
	s.Duration = 200 * time.Second // 200,000 requests, two events each, twice
	arms := s.arms()
	for most, want := range map[uint64]string{1_000_000: "", 500_000: "more than 5e+05 events have been played, and that is the most; write a shorter duration"} {
		p := newPlayer(arms, &s, Options{Parallel: 2})
		p.most = most
		_, err := p.playAll(arms)
		if want == "" && err != nil || want != "" && (err == nil || errors.Is(err, ErrStopped) || !strings.HasPrefix(err.Error(), want)) {
			t.Errorf("at most %d: %v, want %q", most, err, want)
		}
	}
}

// What a trigger that outlasts the run does is not seen to be over, so it counts
// as tipping, with the doubt said.
func TestATriggerThatOutlastsTheRunIsNoRecovery(t *testing.T) {
	s := stall(10*time.Second, 20*time.Second, 60*time.Second)
	s.Searches = []Search{{Name: "stop", Trigger: "stop", From: 0.1, To: 200}}
	r, err := Run(s, Options{})
	if err != nil {
		t.Fatal(err)
	}
	q := r.Searches[0]
	if q.Never || q.Always || q.Trials[1] != (Trial{Value: 200, Tipped: 4, Undecided: 4, Of: 4}) || q.Found > 50 {
		t.Errorf("%+v", q)
	}
}

// However many processors there are, the replications that are played at the
// same time take no more memory than one alone may take.
func TestReplicationsAbreastShareTheMemory(t *testing.T) {
	abreast := func(s Scenario) int {
		arms := s.arms()
		return newPlayer(arms, &s, Options{Parallel: 64}).workers(arms)
	}
	s := ring(1, 10*time.Millisecond)
	if n := abreast(s); n != 64 {
		t.Errorf("%d small replications at once, want 64", n)
	}
	s.Duration, s.Loads[0].Rate = 10*time.Second, 100_000 // a million pile up
	if n := abreast(s); n != 4 {
		t.Errorf("%d at once of which each may take a gigabyte, want 4", n)
	}
	s.Duration = 40 * time.Second
	if n := abreast(s); n != 1 {
		t.Errorf("%d at once of which each may take four gigabytes, want 1", n)
	}
	s.Duration, s.Loads[0].Rate, s.Loads[0].Processes = time.Second, 1, 1000
	s.Loads = append(s.Loads, s.Loads[0], s.Loads[0], s.Loads[0])
	if n := abreast(s); n != 52 {
		t.Errorf("%d at once of 4,000 guards each, want 52", n)
	}
}

// What there is from the beginning is counted: calls of bursts, which are pending
// until they come, and values of caches.
func TestWhatIsHeldFromTheBeginningIsRefused(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*Scenario)
		want   string
	}{
		"bursts": {func(s *Scenario) {
			for i := range 100 {
				s.Loads[0].Bursts = append(s.Loads[0].Bursts, Burst{At: time.Duration(i) * time.Hour, Calls: 1_000_000})
			}
		}, "may take 6.4 GB, and 2 are the most"},
		"caches": {func(s *Scenario) {
			s.Loads[0].Keys = 1_000_000
			for range 100 {
				s.Services[0].Caches = append(s.Services[0].Caches, Cache{Name: "c", Lifetime: time.Hour})
			}
		}, "may take 3.2 GB, and 2 are the most"},
	} {
		s := ring(1, time.Millisecond)
		s.Duration, s.Replications = 200*time.Hour, 1
		if test.change(&s); !strings.Contains(fmt.Sprint(s.Validate()), test.want) {
			t.Errorf("%s: %v, want %s", name, s.Validate(), test.want)
		}
	}
}

// A guard is told which route a request is for: each has times of its own.
func TestGuardsAreToldTheRoute(t *testing.T) {
	s := ring(1, time.Millisecond)
	s.Services[0].Routes = []Route{{Name: "a"}, {Name: "b"}}
	for _, route := range []string{"b", "a", ""} {
		s.Loads = append(s.Loads, Load{Name: "to " + route, To: Target{"server", route}, Rate: 1})
	}
	for i, want := range []uint8{0, 2, 1, 0} {
		if got := compile(&s).m.Edges[i].Route; got != want {
			t.Errorf("%v is route %d, want %d", s.Loads[i].To, got, want)
		}
	}
}
