package limit_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kalan-go/kalan/internal/golden"
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/limit"
)

var adapting = []limit.Kind{limit.Adaptive, limit.AIMD, limit.Vegas, limit.Gradient2}

func TestAdaptiveScripts(t *testing.T) {
	golden.Scripts(t, "testdata/adaptive*.txt", func(t testing.TB) golden.Player {
		p := &worldPlayer{t: t}
		return p.tell
	})
}

// A worldPlayer plays a scenario in a world. What happens between two lines
// happens under the conditions of the first.
type worldPlayer struct {
	t     testing.TB
	world *world
}

func (p *worldPlayer) tell(now policy.Instant, verb string, args []string) string {
	if p.world != nil {
		p.world.run(now.Sub(p.world.now))
	}
	switch verb {
	case "limit":
		var c limit.Config
		if err := c.UnmarshalText([]byte(args[0])); err != nil {
			p.t.Fatal(err)
		}
		p.world = newWorld(1, c, plain...)
		p.world.even = true
		return ""
	case "upstream", "load":
		p.set(args)
		return ""
	case "reset":
		p.world.reset()
		return ""
	case "look":
		return p.look()
	}
	p.t.Fatalf("unknown verb %q", verb)
	return ""
}

func (p *worldPlayer) set(args []string) {
	for _, arg := range args {
		switch key, text, _ := strings.Cut(arg, "="); key {
		case "rate", "workers":
			n, err := strconv.Atoi(text)
			if err != nil {
				p.t.Fatal(err)
			}
			if key == "rate" {
				p.world.rate = float64(n)
			} else {
				p.world.upstream.workers = n
			}
		case "service":
			d, err := time.ParseDuration(text)
			if err != nil {
				p.t.Fatal(err)
			}
			p.world.upstream.service = d
		default:
			p.t.Fatalf("unknown word %q", arg)
		}
	}
}

func (p *worldPlayer) look() string {
	s, tally := p.world.limit.Snapshot(p.world.now), p.world.tally
	refused := "none refused"
	if tally.refused > 0 {
		refused = "the rest refused"
	}
	return strings.Join([]string{
		"limit " + strconv.Itoa(s.Max), s.Phase,
		"useful " + strconv.FormatFloat(s.Useful, 'f', 1, 64),
		"base " + s.Base.Round(ms).String(), "p99 " + s.P99.Round(ms).String(),
		"good " + strconv.Itoa(tally.good), "late " + strconv.Itoa(tally.late),
		refused,
	}, ", ")
}

// O-20: after an overload the limit is as good as before it.
func TestLimitRecoversFromOverload(t *testing.T) {
	for _, kind := range adapting {
		t.Run(kind.String(), func(t *testing.T) {
			seeds := uint64(1)
			if kind == limit.Adaptive {
				seeds = 5
			}
			for seed := range seeds {
				w := newWorld(seed+1, limit.Config{Kind: kind}, plain...)
				w.upstream.workers, w.upstream.service = 16, 10*ms
				w.rate = 4800
				w.run(5 * sec)
				highest := 0
				w.each = func(w *world) { highest = max(highest, w.limit.Max()) }
				w.run(55 * sec)
				w.each = nil
				if kind == limit.Adaptive && highest > 40 {
					t.Errorf("seed %d: limit %d in overload, want at most 40", seed+1, highest)
				}
				w.rate = 480
				w.run(20 * sec)
				w.reset()
				w.run(40 * sec)
				if w.tally.refused > 0 {
					t.Errorf("seed %d: %d refused at .3x", seed+1, w.tally.refused)
				}
				w.rate = 1280
				w.run(5 * sec)
				w.reset()
				w.run(55 * sec)
				if w.tally.refused*100 > w.tally.offered {
					t.Errorf("seed %d: %d of %d refused at .8x", seed+1, w.tally.refused, w.tally.offered)
				}
			}
		})
	}
}

// O-21: without any queue, neither a lucky answer in two hundred nor a mixture
// of fast and slow calls brings the limit below what is in flight.
func TestLuckyAnswersMoveNothing(t *testing.T) {
	laws := map[string]func(*world, time.Duration) time.Duration{
		"lucky": func(w *world, _ time.Duration) time.Duration {
			if w.random.IntN(200) == 0 {
				return 150 * ms
			}
			return 240*ms + time.Duration(w.random.Int64N(int64(120*ms)))
		},
		"mixed": func(w *world, _ time.Duration) time.Duration {
			if w.random.IntN(2) == 0 {
				return 5 * ms
			}
			return 300 * ms
		},
	}
	for _, kind := range adapting {
		for name, law := range laws {
			t.Run(kind.String()+" "+name, func(t *testing.T) {
				lowest, refused, asked := steady(kind, law)
				if lowest < 20 {
					t.Errorf("limit %d with 20 in flight and nobody waiting", lowest)
				}
				if refused*200 > asked {
					t.Errorf("%d of %d refused", refused, asked)
				}
			})
		}
	}
}

// steady keeps twenty calls in flight for ten minutes, as far as the limit
// lets it, and returns the lowest limit after the first minute.
func steady(kind limit.Kind, law func(*world, time.Duration) time.Duration) (lowest, refused, asked int) {
	w := newWorld(1, limit.Config{Kind: kind}, class{share: 1, deadline: time.Minute})
	w.upstream.workers, w.upstream.law = 1<<20, law
	lowest = 1 << 30
	w.each = func(w *world) {
		for w.limit.InFlight() < 20 && w.limit.Free() {
			w.calls = append(w.calls, call{deadline: w.now.Add(time.Minute)})
			w.start(int32(len(w.calls) - 1))
			asked++
		}
		if w.now > policy.Instant(time.Minute) {
			lowest = min(lowest, w.limit.Max())
			if w.limit.InFlight() < 20 {
				refused++
			}
		}
	}
	w.each(w)
	w.run(10 * time.Minute)
	return lowest, refused, asked
}

// A dependency that hangs answers nothing, and its timeouts are no measure of
// it: the limit falls, and when the dependency is back the base latency is
// what it was.
func TestTimeoutsAreLosses(t *testing.T) {
	for _, kind := range adapting {
		t.Run(kind.String(), func(t *testing.T) {
			w := newWorld(1, limit.Config{Kind: kind}, plain...)
			w.upstream.workers, w.upstream.service = 4, 20*ms
			w.rate = 300
			w.run(5 * sec)
			w.rate = 0
			w.run(sec)
			before := w.limit.Snapshot(w.now)
			hang(w.limit, w.now, 60*sec)
			in := w.limit.Snapshot(w.now)
			if in.Max > before.Max/2 {
				t.Errorf("limit %d after a minute without an answer, %d before", in.Max, before.Max)
			}
			if in.Base > before.Base {
				t.Errorf("base %v after a hang, %v before", in.Base, before.Base)
			}
			back := newWorld(2, limit.Config{}, plain...)
			back.limit, back.now, back.rate = w.limit, w.now.Add(61*sec), 300
			back.upstream = upstream{workers: 4, service: 20 * ms, law: always}
			back.run(2 * sec)
			back.reset()
			back.run(5 * sec)
			if back.tally.good < 950 {
				t.Errorf("%d of 1000 answers in time from the third second on", back.tally.good)
			}
		})
	}
}

// hang lets calls take every slot for a timeout of 800 ms, again and again.
func hang(l *limit.Limit, now policy.Instant, d time.Duration) {
	for end := now.Add(d); now < end; {
		var tokens []limit.Token
		for l.Free() {
			tokens = append(tokens, l.Take(now))
		}
		now = now.Add(800 * ms)
		for i := range tokens {
			l.Give(now, &tokens[i], limit.Sample{Outcome: policy.Failure, Late: true, Remaining: 200 * ms})
		}
		if len(tokens) == 0 {
			return
		}
	}
}

// A prediction that keeps everybody out is corrected by nobody: so one is let
// through when nothing was in flight for a second, and what it finds counts.
func TestPredictionDoesNotBlockForEver(t *testing.T) {
	for _, kind := range append(adapting, limit.Constant) {
		t.Run(kind.String(), func(t *testing.T) {
			w := newWorld(1, limit.Config{Kind: kind}, plain...)
			w.upstream.workers, w.upstream.service = 4, sec // nothing can be in time
			w.rate = 400
			w.run(30 * sec)
			if w.tally.late > 100 {
				t.Errorf("%d answers that nobody could wait for", w.tally.late)
			}
			w.upstream.service = 20 * ms
			w.run(4 * sec)
			w.reset()
			w.run(10 * sec)
			if w.tally.good < 1900 {
				t.Errorf("%d of 2000 answers in time after the dependency recovered", w.tally.good)
			}
		})
	}
}

// F17: the p99 doubles although the limit is not reached.
func TestTooHighALimitIsSeen(t *testing.T) {
	w := newWorld(1, limit.Fixed(100), class{share: 1, deadline: time.Minute, level: 1})
	w.upstream.workers, w.upstream.service, w.rate = 4, 20*ms, 40
	w.run(30 * sec)
	if s := w.limit.Snapshot(w.now); s.TooHigh || s.P99 < 19*ms || s.P99 > 25*ms {
		t.Errorf("at a fifth of capacity: %+v", s)
	}
	w.rate = 190
	w.run(30 * sec)
	s := w.limit.Snapshot(w.now)
	if !s.TooHigh {
		t.Errorf("the p99 is %v, %v in calm times, and the limit is not found too high", s.P99, s.Calm)
	}
}

func TestIdleTimeChangesNothing(t *testing.T) {
	for _, kind := range adapting {
		w := newWorld(1, limit.Config{Kind: kind}, plain...)
		w.upstream.workers, w.upstream.service, w.rate = 4, 20*ms, 400
		w.run(10 * sec)
		w.rate = 0
		w.run(10 * sec)
		before := w.limit.Snapshot(w.now)
		w.run(24 * time.Hour)
		if got := w.limit.Snapshot(w.now); got != before {
			t.Errorf("%v: %+v after a quiet day, %+v before", kind, got, before)
		}
	}
}

func TestConfigureKeepsWhatWasFound(t *testing.T) {
	w := newWorld(1, limit.Config{}, plain...)
	w.upstream.workers, w.upstream.service, w.rate = 16, 10*ms, 4800
	w.run(10 * sec)
	found := w.limit.Max()
	w.limit.Configure(w.now, limit.Config{Max: 500})
	if w.limit.Max() != found {
		t.Errorf("limit %d after a new maximum, %d before", w.limit.Max(), found)
	}
	taken := w.limit.InFlight()
	w.limit.Configure(w.now, limit.Fixed(3))
	if w.limit.Max() != 3 || w.limit.InFlight() != taken || w.limit.Free() {
		t.Errorf("%d of %d after a fixed limit of 3", w.limit.InFlight(), w.limit.Max())
	}
}

func TestObservingHoldsNobodyBack(t *testing.T) {
	for _, kind := range append(adapting, limit.Constant) {
		w := newWorld(1, limit.Config{Kind: kind, Observe: true}, class{share: 1, deadline: time.Minute})
		w.upstream.workers, w.upstream.service, w.rate = 4, 20*ms, 190
		w.run(30 * sec)
		w.rate = 300
		w.run(5 * sec)
		s := w.limit.Snapshot(w.now)
		if w.tally.refused > 0 || s.Over == 0 {
			t.Errorf("%v: %d refused, %d would have been", kind, w.tally.refused, s.Over)
		}
		if kind == limit.Adaptive && (s.Max < 4 || s.Max > 16) {
			t.Errorf("limit %d found by observing, for 4 workers", s.Max)
		}
	}
}

// A business error is an answer like any other: it keeps no limit low.
func TestBusinessErrorsAreAnswers(t *testing.T) {
	for _, kind := range adapting {
		l := limit.New(limit.Config{Kind: kind})
		var now policy.Instant
		for range 200 { // waves of 20 calls that all take 20 ms
			var wave []limit.Token
			for len(wave) < 20 && l.Free() {
				wave = append(wave, l.Take(now))
			}
			now = now.Add(20 * ms)
			for i := range wave {
				l.Give(now, &wave[i], limit.Sample{Outcome: policy.Ignored})
			}
		}
		if l.Max() < 20 {
			t.Errorf("%v: limit %d with 20 in flight and nobody waiting", kind, l.Max())
		}
	}
}
