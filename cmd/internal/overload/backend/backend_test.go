package backend

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const ms = time.Millisecond

// ask sends a request with so much time left and returns how long it took.
func ask(b *Backend, ctx context.Context, left string) time.Duration {
	r := httptest.NewRequestWithContext(ctx, "GET", "/", nil)
	r.Header.Set("X-Remaining-Ms", left)
	begin := time.Now()
	b.ServeHTTP(httptest.NewRecorder(), r)
	return time.Since(begin)
}

// Requests are served one after the other by each worker, and whoever has left
// is served too.
func TestTheCapacityIsFixed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New(Setting{2, 20 * ms}, "X-Remaining-Ms")
		defer b.Close()
		gone, leave := context.WithCancel(t.Context())
		leave()
		var all sync.WaitGroup
		for i := range 10 {
			all.Go(func() {
				ctx := t.Context()
				if i == 5 {
					ctx = gone
				}
				if took, want := ask(b, ctx, "50"), 20*ms*time.Duration(i/2+1); took != want {
					t.Errorf("the %d. took %v, want %v", i+1, took, want)
				}
			})
			synctest.Wait()
		}
		all.Wait()
		// The sixth had left; from the seventh on they began after 60 ms and more.
		if c := b.Counts(); c != (Counts{Arrived: 10, Served: 10, Wasted: 5, Longest: 8}) {
			t.Errorf("%+v", c)
		}
	})
}

func TestTheSettingChangesWhileItServes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New(Setting{1, time.Second}, "X-Remaining-Ms")
		defer b.Close()
		var all sync.WaitGroup
		for range 9 {
			all.Go(func() { ask(b, t.Context(), "") })
			synctest.Wait()
		}
		begin := time.Now()
		b.Set(Setting{4, 10 * ms})
		all.Wait()
		if took := time.Since(begin); took != time.Second { // the first one still takes its second
			t.Errorf("all are served after %v", took)
		}
		b.Set(Setting{1, 10 * ms})
		begin = time.Now()
		for range 3 {
			all.Go(func() { ask(b, t.Context(), "") })
		}
		all.Wait()
		if took := time.Since(begin); took != 30*ms {
			t.Errorf("three with one worker take %v", took)
		}
	})
}

func TestResetDropsTheBacklog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New(Setting{1, time.Hour}, "X-Remaining-Ms")
		defer b.Close()
		for range 3 {
			go ask(b, t.Context(), "")
		}
		synctest.Wait()
		b.Reset()
		synctest.Wait()
		if c := b.Counts(); c != (Counts{}) {
			t.Errorf("%+v", c)
		}
	})
}

func TestControl(t *testing.T) {
	b := New(Setting{1, ms}, "X-Remaining-Ms")
	server := httptest.NewServer(b.Handler())
	defer server.Close()
	c := Control{Base: server.URL, Client: server.Client()}
	if err := c.Set(t.Context(), Setting{3, 2 * ms}); err != nil || b.setting != (Setting{3, 2 * ms}) {
		t.Errorf("%+v %v", b.setting, err)
	}
	if err := c.Set(t.Context(), Setting{0, ms}); err == nil {
		t.Error("no workers at all")
	}
	if a, err := server.Client().Get(server.URL + "/x"); err != nil || a.StatusCode != http.StatusOK {
		t.Errorf("%v %v", a, err)
	} else {
		a.Body.Close()
	}
	if n, err := c.Counts(t.Context()); err != nil || n.Served != 1 {
		t.Errorf("%+v %v", n, err)
	}
	if err := c.Reset(t.Context()); err != nil || b.Counts().Served != 0 {
		t.Errorf("%v", err)
	}
}

// An answer says how long its request was here, waiting included.
func TestAnAnswerSaysHowLongItTook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New(Setting{1, 20 * ms}, "X-Remaining-Ms")
		defer b.Close()
		var all sync.WaitGroup
		for i := range 3 {
			all.Go(func() {
				w := httptest.NewRecorder()
				b.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/", nil))
				if took, want := Inside(w.Header()), 20*ms*time.Duration(i+1); took != want {
					t.Errorf("the %d. was inside for %v, want %v", i+1, took, want)
				}
			})
			synctest.Wait()
		}
		all.Wait()
	})
	for _, text := range []string{"", "inside;dur=", "inside;dur=NaN", "inside;dur=-1", "inside;dur=1e300", "20.000"} {
		if took := Inside(http.Header{"Server-Timing": {text}}); took != 0 {
			t.Errorf("%q is %v", text, took)
		}
	}
}
