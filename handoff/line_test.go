package handoff

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/kalan-go/kalan/policy"
)

// The line against a plain slice: first in, first out, nobody waits beside an
// idle worker, and the bounds hold.
func lines(t *rapid.T) {
	config := Config{Waiting: rapid.IntRange(-1, 6).Draw(t, "waiting"), Workers: rapid.IntRange(1, 4).Draw(t, "workers")}.WithDefaults()
	config.Waiting = min(config.Waiting, 6)
	l := newLine[int](config)
	var model []entry[int]
	running := 0
	for n := range rapid.IntRange(0, 100).Draw(t, "steps") {
		now := policy.Instant(n)
		if rapid.IntRange(0, 9).Draw(t, "configure") == 0 {
			config = Config{Waiting: rapid.SampledFrom([]int{-1, 1, 2, 6}).Draw(t, "places"), Workers: rapid.IntRange(1, 4).Draw(t, "for so many")}
			l.resize(config)
			for e, ok := l.more(); ok; e, ok = l.more() {
				if running++; len(model) == 0 || e.item != model[0].item {
					t.Fatalf("started with %+v of %+v", e, model)
				}
				model = model[1:]
			}
		}
		if rapid.Bool().Draw(t, "offer") {
			want := refused
			switch e := (entry[int]{item: n, since: now}); {
			case running < config.Workers:
				want = begun
				running++
			case len(model) < config.Waiting:
				want = queued
				model = append(model, e)
			}
			if got := l.offer(entry[int]{item: n, since: now}); got != want {
				t.Fatalf("verdict %d, want %d", got, want)
			}
		} else if running > 0 {
			e, ok := l.next()
			if ok != (len(model) > 0 && running <= config.Workers) || ok && e.item != model[0].item {
				t.Fatalf("next is %+v, %v; want of %+v", e, ok, model)
			}
			if ok {
				model = model[1:]
			} else {
				running--
			}
		}
		age := time.Duration(0)
		if len(model) > 0 {
			age = now.Sub(model[0].since)
		}
		if l.waiting != len(model) || l.running != running || l.oldest(now) != age || len(model) > 0 && running < config.Workers {
			t.Fatalf("%d wait, %d run, oldest %v; want %d, %d, %v", l.waiting, l.running, l.oldest(now), len(model), running, age)
		}
	}
}

func TestLines(t *testing.T) { rapid.Check(t, lines) }

func FuzzLine(f *testing.F) { f.Fuzz(rapid.MakeFuzz(lines)) }

func TestALineAllocatesNothing(t *testing.T) {
	l := newLine[int](Config{Workers: 1, Waiting: 4})
	l.offer(entry[int]{})
	if n := testing.AllocsPerRun(100, func() {
		l.offer(entry[int]{})
		l.next()
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
