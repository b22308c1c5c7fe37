package kalanhttp_test

import (
	"io"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/policy"
)

// An attempt is slow after half of patient, and may wait for its caller for an
// eighth of it.
const (
	patient = 2 * time.Second
	tarried = patient/2 + 100*ms
)

// tarry lets real time pass: sockets do not know another.
func tarry(t testing.TB, d time.Duration) {
	began := time.Now()
	until(t, "enough time has passed", func() bool { return time.Since(began) > d })
}

// inTurns writes a piece, waits, and writes another.
func inTurns(t testing.TB, w io.Writer, pause time.Duration) {
	io.WriteString(w, "one piece, ")
	if head, ok := w.(http.ResponseWriter); ok {
		http.NewResponseController(head).Flush()
	}
	tarry(t, pause)
	io.WriteString(w, "and another")
}

// A caller sends a request in two pieces and reads the answer in two.
type caller struct{ writes, reads time.Duration }

func (c caller) call(t testing.TB, s *site) {
	var body io.Reader
	if c.writes > 0 {
		out, in := io.Pipe()
		body = out
		go func() {
			inTurns(t, in, c.writes)
			in.Close()
		}()
	}
	r, err := http.NewRequestWithContext(t.Context(), "PUT", s.server.URL, body)
	if err != nil {
		t.Error(err)
		return
	}
	answer, err := s.Do(r)
	if err != nil {
		t.Error(err)
		return
	}
	io.ReadFull(answer.Body, make([]byte, 4))
	tarry(t, c.reads)
	io.Copy(io.Discard, answer.Body)
	answer.Body.Close()
}

// Whoever reads an answer slowly, or sends a request slowly, is not the
// dependency: a few of them would open its breaker for everybody, and what they
// take would be what it is expected to take. A dependency that does the same is
// slow as ever.
func TestWhoIsSlow(t *testing.T) {
	quick := func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		inTurns(t, w, 0)
	}
	slow := func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		inTurns(t, w, tarried)
	}
	const callers = 5
	for name, c := range map[string]struct {
		server http.HandlerFunc
		caller
		blamed bool
	}{
		"a reader":                              {server: quick, caller: caller{reads: tarried}},
		"a reader, beyond the limit":            {server: quick, caller: caller{reads: patient + 100*ms}},
		"a sender":                              {server: quick, caller: caller{writes: tarried}},
		"the dependency":                        {server: slow, blamed: true},
		"the dependency, and all others little": {server: slow, caller: caller{reads: ms, writes: ms}, blamed: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, guard(t, exchange(patient)), c.server)
			var all sync.WaitGroup
			for range callers {
				all.Go(func() { c.call(t, s) })
			}
			all.Wait()
			outcomes, shot := s.outcomes(t), s.guard.Snapshot()
			if c.blamed && (shot.Breaker.Slow == 0 || shot.Mean < tarried) {
				t.Errorf("the dependency is excused: mean %v, %+v", shot.Mean, shot.Breaker)
			}
			if !c.blamed && (outcomes[policy.Cut] != callers || shot.Breaker.Slow > 0 || shot.Mean > 0) {
				t.Errorf("the dependency is blamed: outcomes %v, mean %v, %+v", outcomes, shot.Mean, shot.Breaker)
			}
		})
	}
}

// A program that has what it wants of an answer, works on, and closes it when it
// returns has not read to the end.
func TestClosingLate(t *testing.T) {
	s := serve(t, guard(t, func(c *kalan.Config) { c.Exchange = 0 }), func(w http.ResponseWriter, r *http.Request) { inTurns(t, w, 0) })
	answer, err := s.Get(s.server.URL)
	if err != nil {
		t.Fatal(err)
	}
	io.ReadFull(answer.Body, make([]byte, 4))
	tarry(t, 1100*ms)
	answer.Body.Close()
	if shot := s.guard.Snapshot(); shot.InFlight > 0 || shot.Mean > 0 {
		t.Errorf("%d in flight, mean %v", shot.InFlight, shot.Mean)
	}
}
