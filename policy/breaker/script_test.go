package breaker

import (
	"testing"
	"time"

	"github.com/kalan-go/kalan/policy"
	"pgregory.net/rapid"
)

// A line is one step of a random script, which is played to two breakers that
// must end up alike.
type line struct {
	step    time.Duration
	verb    string
	which   int // of the passes
	outcome policy.Outcome
	ran     time.Duration
	extra   int // looks on the way
}

var someScript = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) line {
	return line{
		step:    someStep.Draw(t, "step"),
		verb:    rapid.SampledFrom([]string{"admit", "admit", "settle", "settle", "burst", "overdue", "undo"}).Draw(t, "verb"),
		which:   rapid.IntRange(0, 3).Draw(t, "which"),
		outcome: someOutcome.Draw(t, "outcome"),
		ran:     someRun.Draw(t, "ran"),
		extra:   rapid.IntRange(0, 3).Draw(t, "extra"),
	}
}), 40, 80)

// play returns the last instant. The instants are what at makes of them.
func play(b *Breaker, script []line, at func(now policy.Instant, l line) policy.Instant) policy.Instant {
	var passes [4]Pass
	var now policy.Instant
	for _, l := range script {
		now = at(now.Add(l.step), l)
		p := &passes[l.which]
		switch l.verb {
		case "admit":
			*p, _ = b.Admit(now)
		case "burst":
			for range 4 {
				q, _ := b.Admit(now)
				b.Settle(now, &q, l.outcome, l.ran)
			}
		case "settle":
			b.Settle(now, p, l.outcome, l.ran)
		case "overdue":
			b.Overdue(now, p)
		case "undo":
			b.Undo(now, p)
		}
	}
	return now
}

func asTold(now policy.Instant, _ line) policy.Instant { return now }

// never lets time go back.
func onwards() func(policy.Instant, line) policy.Instant {
	var last policy.Instant
	return func(now policy.Instant, _ line) policy.Instant {
		last = max(last, now)
		return last
	}
}

func TestLookingChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, script := someConfig.Draw(t, "config"), someScript.Draw(t, "script")
		plain, watched := New(c), New(c)
		play(plain, script, onwards())
		clock := onwards()
		play(watched, script, func(now policy.Instant, l line) policy.Instant {
			last := watched.last
			now = clock(now, l)
			for i := range l.extra { // at instants between the last and this
				between := last.Add(now.Sub(last) / 4 * time.Duration(i+1))
				watched.Look(between)
				watched.Snapshot(between)
				watched.RetryAt(between)
			}
			return now
		})
		same(t, "looked at on the way", watched, plain)
	})
}

func TestSmallerNowIsTheLastOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, script := someConfig.Draw(t, "config"), someScript.Draw(t, "script")
		jumping, steady := New(c), New(c)
		var real policy.Instant
		play(jumping, script, func(_ policy.Instant, l line) policy.Instant {
			real = max(real, real.Add(l.step))
			if l.step < 0 { // told an instant of the past, and even before the start
				return real.Add(l.step)
			}
			return real
		})
		var steadily policy.Instant
		play(steady, script, func(_ policy.Instant, l line) policy.Instant {
			steadily = max(steadily, steadily.Add(l.step))
			return steadily
		})
		same(t, "told smaller instants", jumping, steady)
	})
}

func TestObserverDecidesAlike(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, script := someConfig.Draw(t, "config"), someScript.Draw(t, "script")
		c.Mode = Auto
		auto := New(c)
		c.Mode = Observe
		observer := New(c)
		now := play(auto, script, asTold)
		play(observer, script, asTold)
		want, got := auto.Snapshot(now), observer.Snapshot(now)
		want.Mode = Observe
		if got != want {
			t.Fatalf("observing, it would be %+v, enforcing %+v", got, want)
		}
	})
}

// TestSameSeedSameAnswers: nothing but configuration, verbs, times and seed
// decides.
func TestSameSeedSameAnswers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, script := someConfig.Draw(t, "config"), someScript.Draw(t, "script")
		a, b := New(c), New(c)
		play(a, script, asTold)
		play(b, script, asTold)
		same(t, "played twice", a, b)
	})
}
