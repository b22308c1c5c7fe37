package cache

import (
	"io"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/kalan-go/kalan/policy"
)

// story tells an item of many loads and checks what it says in between.
func story(t *rapid.T) {
	config := Config{
		Lifetime: time.Duration(rapid.Int64Range(0, math.MaxInt64).Draw(t, "lifetime")),
		Spread:   rapid.Float64Range(-1, 1).Draw(t, "spread"),
		Stale:    time.Duration(rapid.Int64().Draw(t, "stale")),
		Missing:  time.Duration(rapid.Int64().Draw(t, "missing")),
		Failed:   time.Duration(rapid.Int64().Draw(t, "failed")),
	}.WithDefaults()
	var item *Item[int]
	var now policy.Instant
	for n := range rapid.IntRange(1, 20).Draw(t, "loads") {
		now = now.Add(time.Duration(rapid.Int64Min(0).Draw(t, "pause")))
		u := rapid.Float64Range(0, 0.999).Draw(t, "u")
		before := item
		switch rapid.IntRange(0, 3).Draw(t, "end") {
		case 0:
			item = item.learn(&config, now, landing[int]{value: n}, u)
			checkValue(t, item, &config, now, n)
		case 1:
			item = item.learn(&config, now, landing[int]{err: ErrMissing}, u)
			if (item == nil) != (config.Missing < 0) || item != nil && item.known {
				t.Fatalf("after a missing value: %+v", item)
			}
		case 2:
			item = item.learn(&config, now, landing[int]{err: io.EOF}, u)
			checkFailure(t, before, item, now)
		case 3:
			item = item.learn(&config, now, landing[int]{err: &Panic{}}, u)
			if checkFailure(t, before, item, now); item != nil && !item.known {
				t.Fatalf("a panic is remembered: %+v", item)
			}
		}
	}
}

func checkValue(t *rapid.T, item *Item[int], config *Config, now policy.Instant, want int) {
	if v, ok := item.Value(); !ok || v != want || item.stale < item.ends || item.state(item.ends-1) != fresh && item.ends > now {
		t.Fatalf("after a value: %+v", item)
	}
	if _, _, err := item.answer(item.stale); err != nil {
		t.Fatalf("an error without a failure: %v", err)
	}
	if life := item.ends.Sub(now); config.Spread < 0 && life != config.Lifetime && item.ends != policy.Never {
		t.Fatalf("a lifetime of %v, want %v", life, config.Lifetime)
	}
}

// checkFailure holds that a failure changes no value and no end of one, and
// that readers get a value or an error, never neither.
func checkFailure(t *rapid.T, before, after *Item[int], now policy.Instant) {
	if before != nil && before.known {
		if after == nil || after.value != before.value || after.ends != before.ends || after.stale != before.stale {
			t.Fatalf("a failure turned %+v into %+v", before, after)
		}
	}
	if after == nil {
		return
	}
	if _, stale, err := after.answer(now); err == nil && (!after.usable(now) || stale != (now >= after.ends)) {
		t.Fatalf("at %v %+v answers without an error", now, after)
	}
	if after.state(now) == due && after.retry > now {
		t.Fatalf("at %v %+v is loaded again", now, after)
	}
}

func TestItemsTellAStory(t *testing.T) { rapid.Check(t, story) }

func FuzzItem(f *testing.F) { f.Fuzz(rapid.MakeFuzz(story)) }
