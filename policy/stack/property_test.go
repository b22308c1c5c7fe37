package stack_test

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// Hundreds of seeds, thousands of verbs: every one is followed by the checks of
// check_test.go.
func TestWalk(t *testing.T) {
	seeds := uint64(400)
	if testing.Short() {
		seeds = 100
	}
	for seed := range seeds {
		random := rand.New(rand.NewPCG(seed, 1))
		w := newWalk(t, random.IntN)
		for range 600 {
			w.step()
		}
		w.finish()
	}
}

// The same walk under rapid, which shortens what it finds.
func TestWalkShortened(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "roll") }
		w := newWalk(t, draw)
		for range rapid.IntRange(0, 80).Draw(t, "verbs") {
			w.step()
		}
		w.finish()
	})
}

// Bytes to verbs.
func FuzzWalk(f *testing.F) {
	f.Add([]byte("nobody waits while a slot is free"))
	f.Fuzz(func(t *testing.T, script []byte) {
		if len(script) > 4000 {
			t.Skip("a longer script says nothing new")
		}
		next := 0
		roll := func(n int) int {
			if next >= len(script) {
				return 0
			}
			next++
			return int(script[next-1]) * n >> 8
		}
		w := newWalk(t, roll)
		for next < len(script) {
			w.step()
		}
		w.finish()
	})
}
