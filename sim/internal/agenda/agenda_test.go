package agenda

import (
	"container/heap"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/kalan-go/kalan/policy"
	"pgregory.net/rapid"
)

func TestAnEventIs32Bytes(t *testing.T) {
	if size := unsafe.Sizeof(Event{}); size != 32 {
		t.Errorf("an event has %d bytes", size)
	}
}

// Whatever is pushed and popped, the order is that of (time, sequence), and the
// past happens now.
func TestOrderIsTotal(t *testing.T) {
	type pushed struct {
		at  policy.Instant
		seq int32
	}
	rapid.Check(t, func(t *rapid.T) {
		var a Agenda
		var pending []pushed
		seq := int32(0)
		for range rapid.IntRange(1, 300).Draw(t, "verbs") {
			if rapid.Bool().Draw(t, "push") || len(pending) == 0 {
				at := a.Now() + policy.Instant(rapid.IntRange(-3, 9).Draw(t, "in"))
				seq++
				pending = append(pending, pushed{max(at, a.Now()), seq})
				a.Push(at, 0, seq, 0, 0)
				continue
			}
			first := 0
			for i, p := range pending {
				if p.at < pending[first].at {
					first = i
				}
			}
			got, ok := a.Pop()
			if want := pending[first]; !ok || got.At != want.at || got.A != want.seq || a.Now() != want.at {
				t.Fatalf("popped %+v, %v at %v, want %+v", got, ok, a.Now(), want)
			}
			pending = append(pending[:first], pending[first+1:]...)
		}
		if a.Len() != len(pending) || a.Popped() != uint64(int(seq)-len(pending)) {
			t.Fatalf("%d pending, %d popped, want %d and %d", a.Len(), a.Popped(), len(pending), int(seq)-len(pending))
		}
	})
}

func TestEmpty(t *testing.T) {
	var a Agenda
	if e, ok := a.Pop(); ok || a.Now() != 0 {
		t.Errorf("an empty agenda has %+v", e)
	}
}

// Each field of each event, and their order, is in the hash.
func TestHashTellsRunsApart(t *testing.T) {
	hash := func(events ...Event) uint64 {
		var a Agenda
		for _, e := range events {
			a.Push(e.At, e.Kind, e.A, e.B, e.Gen)
		}
		for ok := true; ok; {
			_, ok = a.Pop()
		}
		return a.Hash()
	}
	at := func(at policy.Instant, kind uint8, a, b int32) Event { return Event{At: at, Kind: kind, A: a, B: b} }
	later := at(6, 0, 0, 0)
	seen := map[uint64]string{}
	for name, run := range map[string][]Event{
		"base": {at(5, 1, 2, 3), later}, "time": {at(4, 1, 2, 3), later}, "kind": {at(5, 2, 2, 3), later},
		"a": {at(5, 1, 3, 3), later}, "b": {at(5, 1, 2, 2), later}, "negative": {at(5, 1, -2, 3), later},
		"order": {at(5, 0, 0, 0), at(6, 1, 2, 3)}, "fewer": {at(5, 1, 2, 3)},
	} {
		h := hash(run...)
		if other, taken := seen[h]; taken {
			t.Errorf("%s and %s have the hash %x", name, other, h)
		}
		seen[h] = name
		if hash(run...) != h {
			t.Errorf("%s has two hashes", name)
		}
	}
}

func TestNothingIsAllocated(t *testing.T) {
	a := filled(1000)
	if n := testing.AllocsPerRun(1000, func() { turn(a, 1000) }); n != 0 {
		t.Errorf("%v allocations an event", n)
	}
}

// Section 5 of the targets: 10,000 pending events cost no more than twice what
// 100 do.
func BenchmarkTurn(b *testing.B) {
	for _, pending := range []int{100, 10_000} {
		b.Run(map[int]string{100: "100", 10_000: "10000"}[pending], func(b *testing.B) {
			a := filled(pending)
			b.ReportAllocs()
			for b.Loop() {
				turn(a, pending)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds()/1e6, "Mevents/s")
		})
	}
}

// The loop that others write first.
func BenchmarkContainerHeap(b *testing.B) {
	dice := rand.New(rand.NewPCG(1, 2))
	h := &boxed{}
	for range 100 {
		heap.Push(h, Event{At: policy.Instant(dice.IntN(1000))})
	}
	for b.Loop() {
		e := heap.Pop(h).(Event)
		heap.Push(h, Event{At: e.At + policy.Instant(dice.IntN(1000))})
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds()/1e6, "Mevents/s")
}

type boxed []Event

func (h boxed) Len() int           { return len(h) }
func (h boxed) Less(i, j int) bool { return h[i].At < h[j].At }
func (h boxed) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *boxed) Push(e any)        { *h = append(*h, e.(Event)) }
func (h *boxed) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

func filled(n int) *Agenda {
	a := &Agenda{}
	for i := range n {
		a.Push(policy.Instant(i+1), 0, 0, 0, uint32(i))
	}
	for range 10 * n {
		turn(a, n)
	}
	return a
}

// turn pops an event and pushes one in its place, at a time drawn from the
// event itself.
func turn(a *Agenda, n int) {
	e, _ := a.Pop()
	e.Gen = e.Gen*1664525 + 1013904223
	a.Push(e.At+policy.Instant(uint64(e.Gen)*uint64(2*n)>>32)+1, e.Kind, e.A, e.B, e.Gen)
}

// An instant at which something always happens next takes no more memory than
// what is pending at it.
func TestAnInstantTakesWhatIsPending(t *testing.T) {
	var a Agenda
	for i := range int32(100) {
		a.Push(0, 0, i, 0, 0)
	}
	for i := range int32(100_000) {
		if e, ok := a.Pop(); !ok || e.A != i {
			t.Fatalf("popped %+v, %v, want %d", e, ok, i)
		}
		a.Push(0, 0, i+100, 0, 0)
	}
	if cap(a.due) > 1000 {
		t.Errorf("there is room for %d events, and 100 are pending", cap(a.due))
	}
}
