package refusal

import (
	"encoding/json"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	"github.com/kalan-go/kalan/policy"
)

func TestComingBackIsSpreadAndNeverTooSoon(t *testing.T) {
	for _, c := range []struct {
		why         policy.Reason
		after       time.Duration
		first, last int64
	}{
		{policy.Full, 0, 2, 5}, {policy.Full, 2500 * time.Millisecond, 3, 3}, {policy.Throttled, 2500 * time.Millisecond, 3, 3}, {policy.Open, 10 * time.Second, 10, 15},
		{policy.Open, time.Millisecond, 1, 2}, {policy.Rate, 4 * time.Second, 4, 6}, {policy.Open, 1<<63 - 1, 1 << 33, 1 << 34},
	} {
		seen := make(map[int64]bool)
		for range 1000 {
			s := seconds(Spread(c.why, c.after))
			seen[s] = true
			if s < c.first || s > c.last {
				t.Fatalf("%v after %v: back in %d s", c.why, c.after, s)
			}
		}
		if c.last-c.first > 1 && c.last < 1<<30 && len(seen) < 2 {
			t.Errorf("%v after %v: all come back at %v", c.why, c.after, seen)
		}
	}
}

// The header and the body say the same.
func TestWrite(t *testing.T) {
	p := Of("bridge", policy.Open, 9*time.Second)
	answer := httptest.NewRecorder()
	n := p.Write(answer)
	var body Problem
	if err := json.Unmarshal(answer.Body.Bytes(), &body); err != nil || body != p || n != int64(answer.Body.Len()) {
		t.Errorf("%v: %s is %d bytes", err, answer.Body, n)
	}
	head := answer.Result().Header
	if head.Get("Retry-After") != strconv.FormatInt(p.RetryAfter, 10) || head.Get("Content-Type") != "application/problem+json" ||
		head.Get("Cache-Control") != "no-store" || head.Get("Content-Length") != strconv.FormatInt(n, 10) || answer.Code != 503 {
		t.Errorf("%d %v", answer.Code, head)
	}
}

// A request that is wrong is not to be sent again later.
func TestWrong(t *testing.T) {
	p := Wrong(400, "write digits only")
	answer := httptest.NewRecorder()
	p.Write(answer)
	if answer.Code != 400 || answer.Header().Get("Retry-After") != "" || p.Title != "Bad Request" || p.Type != "about:blank" {
		t.Errorf("%d %v %+v", answer.Code, answer.Header(), p)
	}
}
