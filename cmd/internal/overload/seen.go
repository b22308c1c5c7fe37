package overload

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/kalan-go/kalan/cmd/internal/openloop"
	"github.com/kalan-go/kalan/cmd/internal/overload/backend"
)

// Seen is what was seen in a stage.
type Seen struct {
	Stage
	// Possible is how many a second could have been served.
	Possible float64
	// Offered are the callers who came, Good those who were answered in time;
	// Kinds are both of each kind, Seconds of each second.
	Count
	Kinds, Seconds []Count
	// Late are attempts that were not answered in time, Refused those that were
	// told so.
	Late, Refused, Failed int
	// P50 and P99 are of the good answers.
	P50, P99 time.Duration
	// Served and Wasted are the upstream's.
	Served, Wasted uint64

	start time.Time
	took  []time.Duration
}

// A Count is of callers who came, and of those who were answered in time.
type Count struct{ Offered, Good int }

func newSeen(c Case, stage Stage, now backend.Setting) *Seen {
	return &Seen{
		Stage: stage, Possible: min(stage.Load*c.Setting.Capacity(), now.Capacity()), start: time.Now(),
		Kinds: make([]Count, len(c.Callers)), Seconds: make([]Count, int(stage.For/time.Second)+1),
	}
}

// hear takes in one result.
func (s *Seen) hear(r openloop.Result) {
	switch r.Outcome {
	case openloop.Late:
		s.Late++
	case openloop.Refused:
		s.Refused++
	case openloop.Failed, openloop.Unsent:
		s.Failed++
	}
	if r.Again {
		return
	}
	second := min(int(r.First.Sub(s.start)/time.Second), len(s.Seconds)-1)
	for _, c := range []*Count{&s.Count, &s.Kinds[r.Shot.Kind], &s.Seconds[second]} {
		c.Offered++
		if r.Outcome == openloop.InTime {
			c.Good++
		}
	}
	if r.Outcome == openloop.InTime {
		s.took = append(s.took, r.Took)
	}
}

// Goodput returns which part of what could have been served was.
func (s *Seen) Goodput() float64 { return float64(s.Good) / (s.Possible * s.For.Seconds()) }

// LatePart returns which part of the admitted was not answered in time.
func (s *Seen) LatePart() float64 { return float64(s.Late) / float64(max(1, s.Good+s.Late)) }

// WastedPart returns which part of what the upstream served nobody waited for.
func (s *Seen) WastedPart() float64 { return float64(s.Wasted) / float64(max(1, s.Served)) }

// Recovery returns the second from which on all were full: 95 % of what could
// have been served, in it and the one after together, since what a slow upstream
// serves at one time falls into the one or the other. It is the stage's length
// when the last ones were not.
func (s *Seen) Recovery() float64 {
	seconds := s.Seconds[:int(s.For/time.Second)]
	for i := len(seconds) - 1; i >= 0; i-- {
		pair := seconds[max(0, min(i, len(seconds)-2)):]
		if float64(pair[0].Good+pair[min(1, len(pair)-1)].Good)/2 < .95*s.Possible {
			return float64(i + 1)
		}
	}
	return 0
}

// finish works out the quantiles.
func (s *Seen) finish() {
	slices.Sort(s.took)
	if n := len(s.took); n > 0 {
		s.P50, s.P99 = s.took[n/2], s.took[n*99/100]
	}
}

// Detail writes what was seen in each stage, and the goodput of each second in
// percent of what could have been served.
func (r *Run) Detail(w io.Writer) {
	for _, s := range r.Stages {
		fmt.Fprintf(w, "%gx: %d of %d in time, %d late, %d refused, %d failed; p50 %v, p99 %v; upstream served %d, wasted %d; by second:",
			s.Load, s.Good, s.Offered, s.Late, s.Refused, s.Failed, s.P50.Round(time.Microsecond), s.P99.Round(time.Microsecond), s.Served, s.Wasted)
		for _, c := range s.Seconds[:int(s.For/time.Second)] {
			fmt.Fprintf(w, " %.0f", 100*float64(c.Good)/s.Possible)
		}
		fmt.Fprintln(w)
	}
}
