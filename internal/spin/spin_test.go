package spin

import (
	"runtime"
	"sync"
	"testing"
)

// TestOneAtATime counts without atomics: under the race detector a section that
// is not alone is an error, without it a lost count.
func TestOneAtATime(t *testing.T) {
	const goroutines, rounds = 64, 2000
	var m Mutex
	var all sync.WaitGroup
	count := 0
	for range goroutines {
		all.Go(func() {
			for range rounds {
				m.Lock()
				count++
				m.Unlock()
			}
		})
	}
	all.Wait()
	if count != goroutines*rounds {
		t.Errorf("%d sections, counted %d", goroutines*rounds, count)
	}
}

// TestWhoWaitsLongIsParked: the holder gives its processor away, often with
// nothing but waiters to run. Were they to spin on, this would not end where
// there is one processor.
func TestWhoWaitsLongIsParked(t *testing.T) {
	for _, processors := range []int{1, 2} {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
		var m Mutex
		var all sync.WaitGroup
		m.Lock()
		for range 16 {
			all.Go(func() {
				m.Lock()
				runtime.Gosched()
				m.Unlock()
			})
		}
		for range 100 {
			runtime.Gosched()
		}
		m.Unlock()
		all.Wait()
	}
}
