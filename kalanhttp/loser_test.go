package kalanhttp_test

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kalan-go/kalan"
)

// A closer is an answer's body that no context closes.
type closer struct {
	io.Reader
	close func()
}

func (c closer) Close() error { c.close(); return nil }

// A base answers with each status in turn, the first of them late.
type base struct {
	statuses []int
	late     time.Duration
	sent     atomic.Int32
	closed   atomic.Int32
}

func (b *base) RoundTrip(r *http.Request) (*http.Response, error) {
	n := int(b.sent.Add(1)) - 1
	if n == 0 && b.late > 0 {
		timer := time.NewTimer(b.late)
		defer timer.Stop()
		<-timer.C // and no word of the context's: it answers all the same
	}
	return &http.Response{
		StatusCode: b.statuses[min(n, len(b.statuses)-1)], ProtoMajor: 1, Header: http.Header{}, Request: r,
		Body: closer{strings.NewReader("an answer"), sync.OnceFunc(func() { b.closed.Add(1) })},
	}, nil
}

// Every answer is closed: by its reader, or here when it was a loser, whatever
// the base thinks of contexts.
func TestEveryAnswerIsClosed(t *testing.T) {
	for name, c := range map[string]struct {
		base   *base
		change func(*kalan.Config)
	}{
		"followed by another": {&base{statuses: []int{503, 200}}, func(*kalan.Config) {}},
		"outrun by its hedge": {&base{statuses: []int{200}, late: 100 * ms}, func(c *kalan.Config) { c.Retry.Hedge.After = ms }},
		"too late":            {&base{statuses: []int{200}, late: 100 * ms}, exchange(20 * ms)},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, guard(t, c.change), func(http.ResponseWriter, *http.Request) {})
			s.transport.Base = c.base
			if _, text, err := s.send(t, t.Context(), "GET", ""); err != nil || text != "an answer" {
				t.Fatalf("%q, %v", text, err)
			}
			until(t, "both answers are closed", func() bool { return c.base.closed.Load() == 2 && s.guard.Snapshot().InFlight == 0 })
			if n := c.base.sent.Load(); n != 2 {
				t.Errorf("sent %d times", n)
			}
		})
	}
}
