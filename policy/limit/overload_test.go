package limit_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/kalan-go/kalan/policy/limit"
)

const sec = time.Second

// A stage is a stretch of constant conditions. What is counted is what became
// of the calls in it, as a percentage of what could be served.
type stage struct {
	rate    float64 // calls a second
	lasts   time.Duration
	workers int
	service time.Duration
}

func (s stage) possible() float64 {
	return min(s.rate, float64(s.workers)/s.service.Seconds()) * s.lasts.Seconds()
}

// A scenario is played for seeds 1 to 5. Its floor is a percentage for each
// stage: below it the mean fails, and below lowest any single seed.
type scenario struct {
	name    string
	classes []class
	law     func(*world, time.Duration) time.Duration
	stages  []stage
	class   int     // from 1: the share of this class' calls that were served
	of      float64 // what is achievable, where it is less than possible; 0: all
	floor   []float64
	lowest  float64
}

var plain = []class{{share: 1, deadline: 200 * ms, level: 1}}

var mixed = []class{{share: .5, deadline: 80 * ms, level: 1}, {share: .5, deadline: 400 * ms, level: 1}}

var scenarios = []scenario{
	{name: "light load", stages: []stage{{100, 20 * sec, 4, 20 * ms}}, floor: []float64{98}, lowest: 96},
	{name: "cold 1.5x", stages: []stage{{300, 15 * sec, 4, 20 * ms}}, floor: []float64{97}, lowest: 96},
	{name: "cold 2x", stages: []stage{{400, 15 * sec, 4, 20 * ms}}, floor: []float64{97}, lowest: 96},
	{name: "cold 4x", stages: []stage{{800, 15 * sec, 4, 20 * ms}}, floor: []float64{97}, lowest: 96},
	{
		name:   "brown-out after overload",
		stages: []stage{{400, 10 * sec, 4, 20 * ms}, {140, 10 * sec, 4, 80 * ms}, {140, 10 * sec, 4, 20 * ms}},
		floor:  []float64{97, 90, 94}, lowest: 80,
	},
	{
		name: "tight class of 80/400 ms", classes: mixed, class: 1,
		stages: []stage{{400, 20 * sec, 4, 20 * ms}}, floor: []float64{50}, lowest: 45,
	},
	{
		name: "critical class", class: 1,
		classes: []class{{share: .2, deadline: 200 * ms}, {share: .8, deadline: 200 * ms, level: 2}},
		stages:  []stage{{400, 20 * sec, 4, 20 * ms}}, floor: []float64{99}, lowest: 98,
	},
	{
		name: "quiet tenant", class: 1,
		classes: []class{{share: .1, deadline: 200 * ms, level: 1, flow: 1}, {share: .9, deadline: 200 * ms, level: 1, flow: 2}},
		stages:  []stage{{400, 20 * sec, 4, 20 * ms}}, floor: []float64{96}, lowest: 95,
	},
	{
		name:   "workers 8 > 2 > 8",
		stages: []stage{{600, 15 * sec, 8, 20 * ms}, {600, 15 * sec, 2, 20 * ms}, {600, 15 * sec, 8, 20 * ms}},
		floor:  []float64{97, 95, 97}, lowest: 90,
	},
	{
		name:   "workers 64 > 4 > 64",
		stages: []stage{{4800, 15 * sec, 64, 20 * ms}, {4800, 15 * sec, 4, 20 * ms}, {4800, 15 * sec, 64, 20 * ms}},
		floor:  []float64{97, 88, 95}, lowest: 75,
	},
	{
		name:   "service 20 > 80 > 20 ms",
		stages: []stage{{600, 15 * sec, 8, 20 * ms}, {600, 15 * sec, 8, 80 * ms}, {600, 15 * sec, 8, 20 * ms}},
		floor:  []float64{97, 92, 95}, lowest: 85,
	},
	{name: "64 x 20 ms", stages: []stage{{6400, 10 * sec, 64, 20 * ms}}, floor: []float64{96}, lowest: 95},
	{name: "at capacity", stages: []stage{{200, 30 * sec, 4, 20 * ms}}, floor: []float64{96}, lowest: 94},
	{name: "exponential 2x", law: exponential, stages: []stage{{400, 20 * sec, 4, 20 * ms}}, floor: []float64{95}, lowest: 88},
	{
		name: "exponential, workers 8 > 2 > 8", law: exponential,
		stages: []stage{{600, 15 * sec, 8, 20 * ms}, {600, 15 * sec, 2, 20 * ms}, {600, 15 * sec, 8, 20 * ms}},
		floor:  []float64{95, 90, 90}, lowest: 60,
	},
	{
		name: "bimodal 5/200 ms", law: bimodal, classes: []class{{share: 1, deadline: 600 * ms, level: 1}},
		stages: []stage{{326, 20 * sec, 4, 24500 * time.Microsecond}}, floor: []float64{90}, lowest: 75,
	},
	{
		name:    "fast and slow route",
		classes: []class{{share: .5, deadline: 400 * ms, level: 1, work: .25}, {share: .5, deadline: 400 * ms, level: 1, work: 1.75}},
		stages:  []stage{{400, 20 * sec, 4, 20 * ms}}, floor: []float64{95}, lowest: 90,
	},
	{
		name: "no knee", law: crowded, of: .9, // 180 a second is the most that comes within 200 ms
		stages: []stage{{400, 20 * sec, 1 << 20, 20 * ms}}, floor: []float64{86}, lowest: 85,
	},
	{
		name: "tight class after workers 8 > 3", classes: mixed, class: 1,
		stages: []stage{{600, 15 * sec, 8, 20 * ms}, {600, 15 * sec, 3, 20 * ms}}, floor: []float64{50, 25}, lowest: 20,
	},
}

// play returns the percentages of the scenario's stages.
func (s scenario) play(seed uint64, config limit.Config) []float64 {
	classes := s.classes
	if classes == nil {
		classes = plain
	}
	w := newWorld(seed, config, classes...)
	if s.law != nil {
		w.upstream.law = s.law
	}
	var out []float64
	for _, st := range s.stages {
		w.rate, w.upstream.workers, w.upstream.service = st.rate, st.workers, st.service
		w.reset()
		w.run(st.lasts)
		out = append(out, s.score(st, &w.tally))
	}
	return out
}

func (s scenario) score(st stage, t *tally) float64 {
	switch {
	case s.class > 0:
		c := t.class[s.class-1]
		return 100 * float64(c.good) / float64(c.offered)
	case s.of > 0:
		return 100 * float64(t.good) / (s.of * 200 * st.lasts.Seconds())
	}
	return 100 * float64(t.good) / st.possible()
}

// The scenarios of the design's table, and more. Deadline 200 ms unless the
// classes say otherwise; calls come at random.
func TestOverload(t *testing.T) {
	for _, s := range scenarios {
		means, lowest := s.measure(limit.Config{})
		s.check(t, means, lowest)
	}
}

// After a change the full work is done again within two seconds, also when the
// upstream becomes narrower, and hardly anything that was let in is too late.
func TestChangeIsFoundInTwoSeconds(t *testing.T) {
	for _, name := range []string{"workers 8 > 2 > 8", "service 20 > 80 > 20 ms", "brown-out after overload"} {
		s := scenarios[slices.IndexFunc(scenarios, func(s scenario) bool { return s.name == name })]
		for seed := range uint64(5) {
			w := newWorld(seed+1, limit.Config{}, plain...)
			for i, st := range s.stages {
				w.rate, w.upstream.workers, w.upstream.service = st.rate, st.workers, st.service
				w.run(2 * sec)
				w.reset()
				st.lasts -= 2 * sec
				w.run(st.lasts)
				if got := s.score(st, &w.tally); got < 93 {
					t.Errorf("%s, seed %d: %.1f %% from the third second of stage %d on", name, seed+1, got, i+1)
				}
				if late := 100 * float64(w.tally.late) / float64(w.tally.good+w.tally.late); late > 2 {
					t.Errorf("%s, seed %d: %.1f %% of what was let in was too late in stage %d", name, seed+1, late, i+1)
				}
			}
		}
	}
}

func (s scenario) measure(config limit.Config) (means []float64, lowest float64) {
	means, lowest = make([]float64, len(s.stages)), 1e9
	for seed := range uint64(5) {
		got := s.play(seed+1, config)
		for i, x := range got {
			means[i] += x / 5
		}
		lowest = min(lowest, slices.Min(got))
	}
	return means, lowest
}

func (s scenario) check(t *testing.T, means []float64, lowest float64) {
	t.Helper()
	for i, mean := range means {
		if mean < s.floor[i] {
			t.Errorf("%s: %.1f %% in stage %d, want %.0f", s.name, mean, i+1, s.floor[i])
		}
	}
	if lowest < s.lowest {
		t.Errorf("%s: %.1f %% with the worst seed, want %.0f", s.name, lowest, s.lowest)
	}
}

func slashed(xs []float64) (line string) {
	for i, x := range xs {
		if i > 0 {
			line += "/"
		}
		line += fmt.Sprintf("%.0f", x)
	}
	return line
}
