package travel

import (
	"net/http"
	"reflect"
	"testing"
	"time"

	"github.com/kalan-go/kalan/policy/deadline"
)

func TestReadRemaining(t *testing.T) {
	for name, c := range map[string]struct {
		header http.Header
		want   time.Duration
		fails  bool
	}{
		"nothing said":   {http.Header{}, deadline.None, false},
		"plain":          {http.Header{Remaining: {"450"}}, 450 * time.Millisecond, false},
		"Envoy's":        {http.Header{Expected: {"450"}}, 450 * time.Millisecond, false},
		"the shorter":    {http.Header{Remaining: {"450"}, Expected: {"300"}}, 300 * time.Millisecond, false},
		"none left":      {http.Header{Remaining: {"0"}}, 0, false},
		"a word":         {http.Header{Remaining: {"soon"}}, 0, true},
		"no word":        {http.Header{Remaining: {""}}, 0, true},
		"twice":          {http.Header{Remaining: {"450", "450"}}, 0, true},
		"Envoy's, wrong": {http.Header{Remaining: {"450"}, Expected: {"1s"}}, 0, true},
	} {
		got, err := ReadRemaining(c.header, Remaining)
		if got != c.want || (err != nil) != c.fails {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

func TestWriteRemaining(t *testing.T) {
	for _, c := range []struct {
		before, after http.Header
		remaining     time.Duration
		err           error
	}{
		{http.Header{}, http.Header{Remaining: {"325"}}, 325*time.Millisecond + 999, nil},
		{http.Header{Expected: {"800"}}, http.Header{Remaining: {"325"}, Expected: {"325"}}, 325 * time.Millisecond, nil},
		{http.Header{}, http.Header{}, deadline.None, nil},
		{http.Header{}, http.Header{}, time.Millisecond - 1, ErrTooLate},
		{http.Header{}, http.Header{}, -time.Hour, ErrTooLate},
	} {
		h := c.before.Clone()
		if err := WriteRemaining(h, Remaining, c.remaining); err != c.err || !reflect.DeepEqual(h, c.after) {
			t.Errorf("%v over %v: %v, %v; want %v, %v", c.remaining, c.before, h, err, c.after, c.err)
		}
	}
}

func TestWhatMayBeRepeated(t *testing.T) {
	for method, want := range map[string][2]bool{
		"": {true, true}, "GET": {true, true}, "HEAD": {true, true}, "OPTIONS": {true, true}, "TRACE": {true, true},
		"PUT": {false, true}, "DELETE": {false, true}, "POST": {}, "PATCH": {}, "get": {}, "PURGE": {},
	} {
		if got := [2]bool{Safe(method), Idempotent(method)}; got != want {
			t.Errorf("%q is safe, idempotent: %v, want %v", method, got, want)
		}
	}
	for _, c := range []struct {
		key  []string
		want bool
	}{{nil, false}, {[]string{""}, false}, {[]string{"a"}, true}, {[]string{"a", "b"}, false}} {
		if got := Keyed(http.Header{"Idempotency-Key": c.key}); got != c.want {
			t.Errorf("%q is a key: %v", c.key, got)
		}
	}
}

// A key that http.Transport does not see is on the wire all the same: names of
// headers have no case there.
func TestHideKeys(t *testing.T) {
	h := http.Header{"Idempotency-Key": {"a"}, "X-Idempotency-Key": {"b"}, "Accept": {"c"}}
	HideKeys(h)
	if want := (http.Header{"idempotency-key": {"a"}, "x-idempotency-key": {"b"}, "Accept": {"c"}}); !reflect.DeepEqual(h, want) {
		t.Errorf("%v", h)
	}
}

func TestWriteAttempt(t *testing.T) {
	h := http.Header{}
	if WriteAttempt(h, 2); !reflect.DeepEqual(h, http.Header{Attempt: {"2"}}) {
		t.Errorf("%v", h)
	}
}
