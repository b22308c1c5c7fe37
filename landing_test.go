package kalan

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/limit"
	"github.com/kalan-go/kalan/policy/stack"
)

// An attempt's limit passes between two readings of the clock: the machine has
// judged it, its owner has not left it yet, and it lands. Its value is given
// back, its slot comes free, and its call goes on.
func TestALandingThatTheMachineHasJudged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, err := New(Config{Config: stack.Config{Exchange: 100 * time.Millisecond, Limit: limit.Fixed(2)}})
		if err != nil {
			t.Fatal(err)
		}
		discarded := 0
		tr := &trip[int]{
			g: g, back: make(chan *flight[int], aloft),
			way: Way[int]{Discard: func(n int) error { discarded = n; return nil }},
			fn:  func(context.Context) (int, error) { time.Sleep(99 * time.Millisecond); return 7, nil },
		}
		tr.launch(t.Context(), g.begin(t.Context(), &tr.call))
		g.mu.Lock()
		g.stack.Next(g.now().Add(100*time.Millisecond), &tr.call.Call)
		g.mu.Unlock()
		held, next := tr.land(t.Context(), <-tr.back)
		synctest.Wait()
		if held != (Held{}) || next.Kind != stack.Wait || tr.call.Attempts() != 1 {
			t.Errorf("held %v, next %+v, attempts %d; want a retry to wait for", held, next, tr.call.Attempts())
		}
		if !errors.Is(tr.last, policy.Timeout) {
			t.Errorf("left %v as the cause of what follows", tr.last)
		}
		if s := g.Snapshot(); discarded != 7 || s.InFlight != 0 || s.Counts.Outcomes[policy.Failure] != 1 {
			t.Errorf("discarded %d, %d in flight, outcomes %v", discarded, s.InFlight, s.Counts.Outcomes)
		}
	})
}
