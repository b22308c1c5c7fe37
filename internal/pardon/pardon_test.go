package pardon

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/kalan-go/kalan/policy/breaker"
	"github.com/kalan-go/kalan/policy/stack"
)

const ms = time.Millisecond

// A plea is an attempt, and what excuses it.
type plea func()

func (p plea) Excuse() { p() }

func open(after time.Duration, excuse func()) *Pardon {
	p := new(Pardon)
	p.Open(after, plea(excuse))
	return p
}

// It comes after little of what makes an attempt slow, whatever says what does.
func TestAfter(t *testing.T) {
	for want, c := range map[time.Duration]stack.Config{
		time.Second: {},
		100 * ms:    {Exchange: 800 * ms},
		50 * ms:     {Exchange: 800 * ms, Breaker: breaker.Config{Slow: 200 * ms}},
		75 * ms:     {Breaker: breaker.Config{Slow: 300 * ms}},
		125 * ms:    {Exchange: time.Second, Breaker: breaker.Config{Slow: -1}},
		999 * ms:    {Exchange: 8 * 999 * ms, Breaker: breaker.Config{Slow: time.Hour}},
	} {
		if got := After(c.WithDefaults()); got != want {
			t.Errorf("%+v: %v, not %v", c, got, want)
		}
	}
}

// A pardon comes in the middle of the pause that is one too many, and once.
func TestPausesAddUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var excused []time.Duration
		began := time.Now()
		p := open(100*ms, func() { excused = append(excused, time.Since(began)) })
		for range 3 { // 90 ms of pauses, and much else
			p.Begin()
			p.Begin()
			time.Sleep(30 * ms)
			p.End()
			p.End()
			time.Sleep(200 * ms)
		}
		synctest.Wait()
		if len(excused) > 0 {
			t.Fatalf("excused after %v", excused)
		}
		p.Begin()
		time.Sleep(time.Second)
		synctest.Wait()
		p.End()
		p.Begin()
		time.Sleep(time.Second)
		p.Stop()
		if len(excused) != 1 || excused[0] != 700*ms {
			t.Errorf("excused after %v, not 700ms", excused)
		}
	})
}

// What the timer has not seen yet counts at the end; what follows it does not.
func TestTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for pauses, want := range map[int]int{1: 0, 9: 0, 10: 1} {
			excused := 0
			p := open(100*ms, func() { excused++ })
			for range pauses {
				p.Begin()
				time.Sleep(10 * ms)
				p.End()
				time.Sleep(9 * ms)
			}
			p.Stop()
			p.Begin()
			time.Sleep(time.Second)
			p.Stop()
			if synctest.Wait(); excused != want {
				t.Errorf("%d pauses of 10 ms: excused %d times, not %d", pauses, excused, want)
			}
		}
	})
}

// At rest it is excused when somebody looks, who may come in the middle of a
// pause, and from then on by itself.
func TestAtRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for look, want := range map[time.Duration]time.Duration{ms: 100 * ms, 200 * ms: 200 * ms, time.Hour: time.Minute} {
			began, excused := time.Now(), time.Duration(0)
			p := open(100*ms, func() { excused = time.Since(began) })
			p.Rest()
			p.Begin()
			time.AfterFunc(look, p.Look)
			time.Sleep(time.Minute)
			p.Stop()
			if synctest.Wait(); excused != want {
				t.Errorf("looked at after %v: excused after %v, not %v", look, excused, want)
			}
			time.Sleep(time.Hour)
		}
	})
}

// Ends on other goroutines, as those of a closing body, are no race.
func TestAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		excused := 0
		p := open(ms, func() { excused++ })
		for range 8 {
			go func() {
				p.Begin()
				time.Sleep(ms)
				p.End()
				p.Stop()
			}()
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if excused != 1 {
			t.Errorf("excused %d times", excused)
		}
	})
}

// A pause costs no memory once the timer is there.
func TestAPauseCostsNothing(t *testing.T) {
	p := open(time.Hour, func() {})
	if n := testing.AllocsPerRun(100, func() { p.Begin(); p.End() }); n > 0 {
		t.Errorf("%v allocations", n)
	}
	p.Stop()
}
