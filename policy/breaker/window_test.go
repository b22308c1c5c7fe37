package breaker

import (
	"testing"
	"time"

	"github.com/kalan-go/kalan/policy"
	"pgregory.net/rapid"
)

type counted struct {
	at policy.Instant
	k  kind
}

func sum(calls []counted) (t tally) {
	for _, c := range calls {
		t.add(c.k)
	}
	return t
}

// since returns the calls that were counted later than at.
func since(calls []counted, at policy.Instant) []counted {
	for i, c := range calls {
		if c.at > at {
			return calls[i:]
		}
	}
	return nil
}

var someKind = rapid.SampledFrom([]kind{good, failed, slow, failed | slow})

// within reports whether every column of t lies between those of two others.
func (t tally) within(low, top tally) bool {
	return low.calls <= t.calls && t.calls <= top.calls && low.failed <= t.failed && t.failed <= top.failed &&
		low.slow <= t.slow && t.slow <= top.slow && low.bad <= t.bad && t.bad <= top.bad
}

// TestTimeWindowHoldsTheLastWhile compares it with a list of all calls: it
// holds those of the last 29/30, and none that is older than the whole. It may
// change its length on the way.
func TestTimeWindowHoldsTheLastWhile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		length := rapid.SampledFrom([]time.Duration{30, 31, time.Second, time.Minute}).Draw(t, "window")
		w := newWindow(&rules{Config: Config{Window: length}})
		var calls []counted
		var now policy.Instant
		for range rapid.IntRange(1, 80).Draw(t, "calls") {
			now = now.Add(time.Duration(rapid.Int64Range(0, int64(length)/8).Draw(t, "step")))
			if rapid.IntRange(0, 40).Draw(t, "idle") == 0 {
				now = now.Add(2 * length)
			}
			c := counted{now, someKind.Draw(t, "kind")}
			calls = append(calls, c)
			w.add(now, c.k)

			low, top := sum(since(calls, now.Add(-length/buckets*(buckets-1)+2))), sum(since(calls, now.Add(-w.width*buckets)))
			if !w.total.within(low, top) {
				t.Fatalf("at %v it holds %+v, not between %+v and %+v", now, w.total, low, top)
			}
		}
	})
}

func TestCountWindowHoldsTheLastCalls(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 9).Draw(t, "count")
		w := newWindow(&rules{Config: Config{Count: n}})
		var calls []counted
		for range rapid.IntRange(1, 40).Draw(t, "calls") {
			if rapid.IntRange(0, 9).Draw(t, "change") == 0 {
				m := rapid.IntRange(1, 9).Draw(t, "other")
				w = w.into(&rules{Config: Config{Count: m}})
				calls = calls[max(0, len(calls)-min(n, m)):] // a shorter one forgets for good
				n = m
			}
			c := counted{k: someKind.Draw(t, "kind")}
			calls = append(calls, c)
			w.add(0, c.k)
			if want := sum(calls[max(0, len(calls)-n):]); w.total != want {
				t.Fatalf("the last %d: %+v, want %+v", n, w.total, want)
			}
		}
	})
}

// TestLongerWindowKeepsEveryCall: a change to a longer window moves each call to
// the bucket of its time, where it grows old as it would have.
func TestLongerWindowKeepsEveryCall(t *testing.T) {
	w := newWindow(&rules{Config: Config{Window: 30 * time.Second}})
	for s := range 60 {
		w.add(policy.Instant(time.Duration(s)*time.Second), failed)
	}
	long := w.into(&rules{Config: Config{Window: time.Minute}})
	if long.total.calls != 30 || long.total != w.total {
		t.Fatalf("of %+v it kept %+v", w.total, long.total)
	}
	for s, want := range map[int]uint32{88: 30, 90: 28, 104: 14, 117: 2, 120: 0} {
		later := long
		if later.see(policy.Instant(time.Duration(s) * time.Second)); later.total.calls != want {
			t.Errorf("at %d s it holds %d, not %d", s, later.total.calls, want)
		}
	}
}
