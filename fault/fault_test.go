package fault

import (
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/span"
)

func must(t testing.TB, faults ...Fault) *Injector {
	t.Helper()
	i, err := New(faults...)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// Each kind does what it says: whether the call is made, what comes back, and
// after how long.
func TestWhatBefallsACall(t *testing.T) {
	own := errors.New("an error of one's own")
	for name, c := range map[string]struct {
		fault Fault
		made  int
		err   error
		took  time.Duration
	}{
		"none":        {Fault{}, 1, nil, 0},
		"slow":        {Fault{Kind: Slow, Share: 1, Delay: span.Range{Min: 2 * time.Second, Max: 2 * time.Second}}, 1, nil, 2 * time.Second},
		"too slow":    {Fault{Kind: Slow, Share: 1, Delay: span.Range{Min: time.Hour, Max: time.Hour}}, 0, context.DeadlineExceeded, time.Minute},
		"fail":        {Fault{Kind: Fail, Share: 1}, 0, Error{Fail}, 0},
		"fail so":     {Fault{Kind: Fail, Share: 1, Err: own}, 0, own, 0},
		"hang":        {Fault{Kind: Hang, Share: 1}, 0, context.DeadlineExceeded, time.Minute},
		"lose":        {Fault{Kind: Lose, Share: 1}, 1, Error{Lose}, 0},
		"a late fail": {Fault{Kind: Fail, Share: 1, Delay: span.Range{Min: time.Second, Max: time.Second}}, 0, Error{Fail}, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			i, made, begun := must(t, c.fault), 0, time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			value, err := Do(ctx, i, func(context.Context) (int, error) { made++; return 42, nil })
			if made != c.made || !errors.Is(err, c.err) || (err == nil) != (value == 42) || time.Since(begun) != c.took {
				t.Errorf("%s: %d, %v after %v, made %d times; want %v after %v, %d times", name, value, err, time.Since(begun), made, c.err, c.took, c.made)
			}
		})
	}
	for _, i := range []*Injector{nil, new(Injector)} {
		if _, err := Do(t.Context(), i, func(context.Context) (int, error) { return 0, nil }); err != nil {
			t.Errorf("no injector hurts: %v", err)
		}
	}
}

// The draw decides: each fault has its share, in turn, and the rest has none.
func TestSharesAddUp(t *testing.T) {
	faults := []Fault{{Kind: Slow, Share: .25}, {Kind: Lose, Share: .5}}
	for u, want := range map[float64]*Fault{0: &faults[0], .2499: &faults[0], .25: &faults[1], .7499: &faults[1], .75: nil, .9999: nil} {
		if got := befalls(faults, u); got != want {
			t.Errorf("the draw %v is %v, want %v", u, got, want)
		}
	}
	if befalls(nil, 0) != nil {
		t.Error("no faults are one")
	}
}

func TestCountsAndChanges(t *testing.T) {
	i := must(t, Fault{Kind: Fail, Share: 1})
	work := func(context.Context) (int, error) { return 0, nil }
	Do(t.Context(), i, work)
	if err := i.Configure(Fault{Kind: Lose, Share: 1}); err != nil {
		t.Fatal(err)
	}
	Do(t.Context(), i, work)
	Do(t.Context(), i, work)
	if err := i.Configure(Fault{Share: 2}); err == nil {
		t.Error("a wrong change was taken")
	}
	if err := i.Configure(); err != nil {
		t.Fatal(err)
	}
	if _, err := Do(t.Context(), i, work); err != nil {
		t.Errorf("switched off: %v", err)
	}
	if got, want := i.Snapshot(), (Snapshot{Calls: 4, Fail: 1, Lose: 2}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := (*Injector)(nil).Snapshot(); got != (Snapshot{}) {
		t.Errorf("none has counted %+v", got)
	}
}

func TestWhatIsWrongIsSaid(t *testing.T) {
	for name, faults := range map[string][]Fault{
		"a share": {{Share: math.NaN()}}, "a negative one": {{Share: -1}}, "shares": {{Share: .6}, {Share: .6}},
		"a kind": {{Kind: kinds}}, "a delay": {{Delay: span.Range{Min: 2, Max: 1}}}, "another": {{Delay: span.Range{Min: -1}}},
	} {
		if _, err := New(faults...); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
}

// A guard takes what is done on purpose for what it stands for, and opens.
func TestAGuardIsNotTold(t *testing.T) {
	c := kalan.Config{Name: "bridge"}
	c.Retry.Attempts = 1
	g, err := kalan.New(c)
	if err != nil {
		t.Fatal(err)
	}
	i := must(t, Fault{Kind: Fail, Share: 1})
	for range 20 {
		kalan.Do(t.Context(), g, func(ctx context.Context) (int, error) {
			return Do(ctx, i, func(context.Context) (int, error) { return 0, nil })
		})
	}
	if _, err := kalan.Do(t.Context(), g, func(context.Context) (int, error) { return 0, nil }); !errors.Is(err, policy.Open) {
		t.Errorf("after twenty faults: %v", err)
	}
}

// A request is sent or not as the fault says, its body is closed, and so is an
// answer that is lost.
func TestTransport(t *testing.T) {
	var hits, closed atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hits.Add(1)
		io.Copy(io.Discard, r.Body)
		io.WriteString(w, "an answer")
	}))
	defer server.Close()
	base := server.Client().Transport
	for kind, want := range map[Kind]int32{Fail: 0, Lose: 1} {
		hits.Store(0)
		closed.Store(0)
		client := &http.Client{Transport: Transport{Base: base, Injector: must(t, Fault{Kind: kind, Share: 1})}}
		body := struct {
			io.Reader
			io.Closer
		}{strings.NewReader("a question"), closer(func() error { closed.Add(1); return nil })}
		if _, err := client.Post(server.URL, "text/plain", body); !errors.Is(err, Error{kind}) || hits.Load() != want || closed.Load() == 0 {
			t.Errorf("%v: %v, sent %d times, body closed %d times", kind, err, hits.Load(), closed.Load())
		}
	}
	base.(*http.Transport).CloseIdleConnections()
	lost := Transport{Injector: must(t, Fault{Kind: Lose, Share: 1}), Base: tripper(func(r *http.Request) (*http.Response, error) {
		return &http.Response{Body: struct {
			io.Reader
			io.Closer
		}{strings.NewReader("an answer"), closer(func() error { closed.Store(-1); return nil })}}, nil
	})}
	if _, err := lost.RoundTrip(httptest.NewRequest("GET", "/", nil)); !errors.Is(err, Error{Lose}) || closed.Load() != -1 {
		t.Errorf("an answer that is lost stays open: %v", err)
	}
	answer, err := (&http.Client{Transport: Transport{Base: base}}).Get(server.URL)
	if err != nil || answer.StatusCode != 200 {
		t.Fatalf("without an injector: %v", err)
	}
	answer.Body.Close()
}

// Whoever closes the connections of a client closes those below, which would be kept
// otherwise.
func TestIdleConnectionsAreClosedThroughIt(t *testing.T) {
	var closed idle
	(&http.Client{Transport: Transport{Base: &closed}}).CloseIdleConnections()
	if closed != 1 {
		t.Errorf("closed %d times", closed)
	}
	Transport{Base: tripper(nil)}.CloseIdleConnections() // which has none to close
}

type idle int

func (*idle) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("not asked for")
}

func (i *idle) CloseIdleConnections() { *i++ }

type tripper func(*http.Request) (*http.Response, error)

func (f tripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

type closer func() error

func (c closer) Close() error { return c() }
