// Package spin has a mutex for sections that take less time than a goroutine
// takes to be parked and woken.
//
// A guard is locked twice in each call, for some forty nanoseconds. When two
// processors want it at once, sync.Mutex parks whoever comes second as soon as
// anything else can run, which costs more than the call; and one that asks
// again and again without a pause takes the lock's cache line, and all that the
// lock protects, from the processor that is at work on them. So whoever finds
// the lock taken stays away from it for a while, twice as long each time, and
// parks only after that (Anderson, "The Performance of Spin Lock Alternatives
// for Shared-Memory Multiprocessors", 1990). Meanwhile the other processor does
// several calls in a row with everything in its cache: from 64 goroutines on two
// cores a call takes half of the time (BenchmarkParallel64 in bench).
//
// Use sync.Mutex for everything else: for sections that may be long, and for
// those that are hardly ever wanted by two.
package spin

import "sync"

// A Mutex is a sync.Mutex whose waiters back off before they park. The zero
// Mutex is unlocked; one that is in use must not be copied.
type Mutex struct{ mu sync.Mutex }

// What a waiter counts to before it asks again: for half a microsecond first,
// which is a dozen sections, and for two at last. Nobody waits five for a lock
// that is free.
const (
	first = 1 << 11
	last  = 1 << 13
)

// Lock locks m. Like a sync.Mutex, m is handed to a waiter that has been kept
// from it for a millisecond.
func (m *Mutex) Lock() {
	if !m.mu.TryLock() {
		m.wait()
	}
}

// Unlock unlocks m, which has to be locked.
func (m *Mutex) Unlock() { m.mu.Unlock() }

func (m *Mutex) wait() {
	for n := first; n <= last; n *= 2 {
		for range n { // the compiler leaves it: nothing is read, nothing written
		}
		if m.mu.TryLock() {
			return
		}
	}
	m.mu.Lock()
}
