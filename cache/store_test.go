package cache

import (
	"runtime"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

func TestTheStoreHoldsItsBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.IntRange(1, 40).Draw(t, "keys")
		store := newClocks[int, int](keys)
		last := make(map[int]*Item[int])
		for range rapid.IntRange(0, 300).Draw(t, "steps") {
			key := rapid.IntRange(0, 60).Draw(t, "key")
			switch rapid.IntRange(0, 2).Draw(t, "verb") {
			case 0:
				last[key] = &Item[int]{value: key}
				store.Set(key, last[key])
				if store.Get(key) != last[key] {
					t.Fatal("what was just set is not there")
				}
			case 1:
				delete(last, key)
				store.Delete(key)
			}
			if item := store.Get(key); item != nil && item != last[key] {
				t.Fatalf("key %d has %+v, want %+v", key, item, last[key])
			}
			if n := store.Len(); n > keys || n > len(last) {
				t.Fatalf("%d items, bound %d, %d set", n, keys, len(last))
			}
		}
	})
}

// O-24: a flood of keys that come once neither grows the store nor drives out
// a key that is read again and again.
func TestAFloodOfKeysIsHarmless(t *testing.T) {
	const keys = 10_000
	store := newClocks[string, int](keys)
	for i := range keys {
		store.Set("warm-"+strconv.Itoa(i), &Item[int]{})
	}
	regular := &Item[int]{}
	store.Set("regular", regular)
	before := heap()
	for i := range 1_000_000 {
		store.Set("once-"+strconv.Itoa(i), &Item[int]{})
		if i%100 == 0 && store.Get("regular") != regular {
			t.Fatalf("the regular was forgotten after %d keys", i)
		}
	}
	if n := store.Len(); n > keys {
		t.Errorf("%d items", n)
	}
	if grown := heap() - before; grown > 20<<20 {
		t.Errorf("the heap grew by %d bytes", grown)
	}
	runtime.KeepAlive(store)
}

// When every key is hot, a new one still finds a place, and quickly.
func TestAHotStoreLearnsNewKeys(t *testing.T) {
	const keys = 16 * 1000
	store := newClocks[int, int](keys)
	for key := range 2 * keys { // parts fill unevenly
		store.Set(key, &Item[int]{})
	}
	for key := range 2 * keys {
		store.Get(key)
	}
	fresh := &Item[int]{}
	store.Set(-1, fresh)
	if store.Get(-1) != fresh {
		t.Error("a new key found no place")
	}
	unmarked := 0
	for i := range store.parts {
		for _, p := range store.parts[i].places {
			if !p.seen {
				unmarked++
			}
		}
	}
	if unmarked > steps {
		t.Errorf("the hand took off %d marks for one key", unmarked)
	}
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
