package quota

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kalan-go/kalan/policy"
)

const second = policy.Instant(time.Second)

func TestEachCallerHasItsOwn(t *testing.T) {
	table := New(10, 5, 1000)
	for _, key := range []uint64{1, 1 << 60, 3 << 61} {
		allowed := 0
		for range 20 {
			at, ok := table.Take(0, key)
			if ok {
				allowed++
			} else if at != second/10 {
				t.Fatalf("back at %v, want 100ms", time.Duration(at))
			}
		}
		if allowed != 5 {
			t.Errorf("%d of a burst of 5", allowed)
		}
		if _, ok := table.Take(second/10, key); !ok {
			t.Error("nothing after the time to come back")
		}
	}
	if s := table.Snapshot(); s.Keys != 3 || s.Refused != 45 {
		t.Errorf("%+v", s)
	}
}

func TestWhatIsGivenBackWasNeverTaken(t *testing.T) {
	table := New(1, 1, 10)
	table.Take(0, 7)
	table.Undo(0, 7)
	table.Undo(0, 8) // never seen
	if _, ok := table.Take(0, 7); !ok {
		t.Error("what was given back is gone")
	}
	if _, ok := table.Take(0, 7); ok {
		t.Error("more was given back than was taken")
	}
}

func TestThereAreNoMoreThanWereAskedFor(t *testing.T) {
	for _, keys := range []int{-1, 1, 3, 16, 100} {
		table := New(10, 5, keys)
		for i := range uint64(1000) {
			table.Take(0, i*0x9E3779B97F4A7C15)
		}
		if s := table.Snapshot(); s.Keys > max(1, keys) || s.Keys == 0 {
			t.Errorf("%d of %d keys", s.Keys, keys)
		}
	}
}

func TestNoRateIsNoLimit(t *testing.T) {
	table := New(0, 5, 10)
	for range 100 {
		if _, ok := table.Take(0, 1); !ok {
			t.Fatal("refused")
		}
	}
	table.Undo(0, 1)
	if table.Snapshot() != (Snapshot{}) {
		t.Errorf("%+v", table.Snapshot())
	}
}

// O-24: a million callers, and room for 10,000.
func TestAFloodOfCallersIsBounded(t *testing.T) {
	const keys, flood = 10_000, 1_000_000
	before := heap()
	table := New(10, 5, keys)
	slowest := make([]time.Duration, 0, flood/100)
	for i := range uint64(flood) {
		begin := time.Now()
		table.Take(0, i*0x9E3779B97F4A7C15)
		if i%100 == 0 {
			slowest = append(slowest, time.Since(begin))
		}
	}
	grown := heap() - before
	s := table.Snapshot()
	if s.Keys > keys || s.Evicted+s.Overflowed < flood-keys {
		t.Errorf("%+v", s)
	}
	if grown > 20<<20 {
		t.Errorf("the heap has grown by %d MB", grown>>20)
	}
	slices.Sort(slowest)
	if p99 := slowest[len(slowest)*99/100]; p99 > time.Millisecond {
		t.Errorf("p99 of Take is %v", p99)
	}
	runtime.KeepAlive(table)
}

func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func TestManyAtOnceTakeNoMoreThanThereIs(t *testing.T) {
	table := New(1, 100, 1000)
	var taken atomic.Int64
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 100 {
				if _, ok := table.Take(0, 1); ok {
					taken.Add(1)
				}
				table.Snapshot()
			}
		})
	}
	all.Wait()
	if taken.Load() != 100 {
		t.Errorf("%d of 100 taken", taken.Load())
	}
}

func TestTakingAllocatesNothing(t *testing.T) {
	table := New(1e9, 1, 1000)
	for i := range uint64(1000) {
		table.Take(0, i<<32)
	}
	i := uint64(0)
	if n := testing.AllocsPerRun(1000, func() { i++; table.Take(0, i%1000<<32) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
