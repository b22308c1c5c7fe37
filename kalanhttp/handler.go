package kalanhttp

import (
	"context"
	"hash/maphash"
	"maps"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/drain"
	"github.com/kalan-go/kalan/internal/carry"
	"github.com/kalan-go/kalan/internal/refusal"
	"github.com/kalan-go/kalan/internal/travel"
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/breaker"
	"github.com/kalan-go/kalan/policy/deadline"
	"github.com/kalan-go/kalan/policy/retry"
)

// ForServer returns c as it suits the admission of a server: its limit, its
// room, its rate and its time limit stand; there is no breaker, and nothing is
// repeated.
//
// A breaker keeps callers away from a dependency that cannot help them. A
// server that keeps everybody away from itself because one of its handlers
// answers 500 turns a defect of one page into an outage of all. What a server
// needs is a limit: see docs/adr/0032.
func ForServer(c kalan.Config) kalan.Config {
	c.Breaker = breaker.Config{Mode: breaker.Disabled}
	c.Retry = retry.Config{Attempts: 1}
	c.Cancels = true
	return c
}

// A Handler is an [http.Handler] that admits requests to another one behind a
// guard: how many at once, who waits, who is refused. It needs Guard and Next.
// It is safe for concurrent use and must not be changed once it serves.
//
// A request's remaining time is read from its header: malformed is answered
// 400, none left 504, and what there is becomes the deadline of its context,
// which the guard's Exchange can shorten. Nothing is begun whose time is up.
// What has begun is told through its context and not aborted, since nothing in
// Go can abort it: its slot stays taken until it returns.
//
// Refused requests are answered with application/problem+json (RFC 9457):
// 429 rate; 503 open, throttled, full, waited and shed, each of these with a
// jittered Retry-After; 504 expired. A client that has left is answered 499, for
// the log.
//
// Next gets a ResponseWriter that can do what the server's can: Flusher,
// Hijacker, io.ReaderFrom, Pusher, and http.ResponseController through Unwrap.
type Handler struct {
	// Guard admits. Make it with [ForServer]: with a breaker a handler's 5xx
	// answers are failures that open it for everybody.
	Guard *kalan.Guard
	// Next does the work.
	Next http.Handler
	// Promise is the longest that an answer may take. 0 means what the caller
	// says, and without a word of its own no limit but Guard's Exchange.
	Promise time.Duration
	// Header carries the remaining time, in whole milliseconds;
	// "X-Remaining-Ms" when empty.
	Header string
	// Trust reports whether who asks is believed when it says that it owns the
	// retries (X-Retry-Owner), so that the calls made for it are not repeated
	// (F20). nil believes nobody: a stranger must not be able to switch off
	// retries, and Next does not see its word.
	Trust func(*http.Request) bool
	// Tenant returns who asks, and its share against others; 0 is 1. Tenants
	// wait in turn. nil means that all are one.
	Tenant func(*http.Request) (name string, weight uint8)
	// Priority returns the level of a request: 0 is critical and never shed, 1
	// the usual, 2 bulk. nil means 1 for all.
	Priority func(*http.Request) uint8
	// Stream reports whether a request asks for an answer without an end, which
	// no deadline may cut; nil means [AsksForStream]. Its slot comes back when
	// the stream begins (an upgrade, or an answer of text/event-stream).
	Stream func(*http.Request) bool
	// Streams is how many may be open at once: 1,000 when zero, none when
	// negative. One more is refused as full. A connection that was hijacked
	// counts until its handler returns.
	Streams int
	// HoldStreams lets a stream keep its slot to its end: for streams that are
	// work, such as a conversion, and no subscriptions.
	HoldStreams bool
	// Drain is the way out of the process (F6). While it leaves, answers close
	// their connections; when it takes nothing new, requests are refused with
	// 503, and the context of a stream that has begun ends. nil means that the
	// server never leaves by itself. Give Drain.Run the http.Server's Shutdown and
	// Close.
	Drain *drain.Drain

	streams atomic.Int64
}

// usual is the level of a request of which nobody says one.
const usual = 1

// tenants hashes names. Strangers who knew the seed could choose names that
// wait in a competitor's turn.
var tenants = maphash.MakeSeed()

// ServeHTTP admits the request, or refuses it.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h.Drain != nil {
		if !h.join(w) {
			return
		}
		defer h.Drain.Exit()
	}
	ctx, wrong := h.timed(r)
	if wrong != nil {
		wrong.Write(w)
		return
	}
	r, asked := h.asked(r)
	stream := h.asksForStream(r) // before there is a slot, which its panic would take along
	until, held, err := kalan.Hold(ctx, h.Guard, kalan.Way[time.Time]{Ask: asked.Ask}, enter)
	if err != nil {
		h.refuse(w, err)
		return
	}
	if stream {
		until = time.Time{}
	}
	h.serve(w, r.WithContext(carry.With(r.Context(), asked)), until, held)
}

// join makes the request a piece of the drain's work, or refuses it. A client
// that is told to close its connection finds another server with the next one.
func (h *Handler) join(w http.ResponseWriter) bool {
	in := h.Drain.Enter()
	if h.Drain.State() != drain.Ready {
		w.Header()["Connection"] = closing
	}
	if !in {
		p := refusal.Wrong(http.StatusServiceUnavailable, "the server is leaving; another one serves")
		p.RetryAfter = refusal.ComeBack(policy.None, 0)
		p.Write(w)
	}
	return in
}

var closing = []string{"close"}

// enter is the work of a call that only admits: it tells until when it has
// time.
func enter(ctx context.Context) (time.Time, error) { return kalan.AttemptOf(ctx).Until, nil }

// timed returns the context that the guard looks at, which has the request's
// deadline, or what is wrong with the request.
func (h *Handler) timed(r *http.Request) (context.Context, *refusal.Problem) {
	name := travel.Remaining
	if h.Header != "" {
		name = http.CanonicalHeaderKey(h.Header)
	}
	remaining, err := travel.ReadRemaining(r.Header, name)
	if err != nil {
		wrong := refusal.Wrong(http.StatusBadRequest, err.Error())
		return nil, &wrong
	}
	switch remaining = deadline.Effective(remaining, h.Promise); remaining {
	case 0:
		late := refusal.Of(h.Guard.Name(), policy.Expired, 0)
		return nil, &late
	case deadline.None:
		return r.Context(), nil
	}
	until := time.Now().Add(min(remaining, travel.Longest))
	if sooner, limited := r.Context().Deadline(); limited && sooner.Before(until) {
		return r.Context(), nil
	}
	return limited{r.Context(), until}, nil
}

// asked returns what the request asks, for itself and for the calls that are
// made for it, and the request without the mark of whoever is not believed: a
// handler that forwards it would hand that on.
func (h *Handler) asked(r *http.Request) (*http.Request, carry.Asked[kalan.Ask]) {
	a := carry.Asked[kalan.Ask]{Ask: kalan.Ask{Level: usual}}
	if h.Priority != nil {
		a.Ask.Level = h.Priority(r)
	}
	if h.Tenant != nil {
		name, weight := h.Tenant(r)
		a.Ask.Flow, a.Ask.Weight = uint32(maphash.String(tenants, name)), weight
	}
	switch owner := r.Header[travel.RetryOwner]; {
	case len(owner) == 0:
	case h.Trust != nil && h.Trust(r):
		a.Ask.Once, a.Owner = true, owner[0]
	default:
		r = r.WithContext(r.Context()) // a copy
		r.Header = maps.Clone(r.Header)
		delete(r.Header, travel.RetryOwner)
	}
	return r, a
}

// serve lets Next do the work and gives the slot back when it has returned,
// whatever it does.
func (h *Handler) serve(w http.ResponseWriter, r *http.Request, until time.Time, held kalan.Held) {
	ctx, cancel := begin(r.Context(), until)
	out := &writer{ResponseWriter: w, handler: h, held: held, ctx: ctx, cancel: cancel}
	defer out.end()
	h.Next.ServeHTTP(out.capable(), r.WithContext(ctx))
	out.returned = true
}

// begin returns the context of a handler's work, until an instant or without
// end.
func begin(ctx context.Context, until time.Time) (context.Context, context.CancelFunc) {
	if until.IsZero() {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, until)
}

// refuse answers for the guard.
func (h *Handler) refuse(w http.ResponseWriter, err error) {
	if !Refuse(w, err) {
		p := refusal.Wrong(http.StatusInternalServerError, "the request was not admitted")
		p.Write(w)
	}
}

func (h *Handler) asksForStream(r *http.Request) bool {
	if h.Stream == nil {
		return AsksForStream(r)
	}
	return h.Stream(r)
}

// AsksForStream is the default of Handler.Stream: a request to switch protocols,
// or one that accepts an event stream.
func AsksForStream(r *http.Request) bool {
	if len(r.Header["Upgrade"]) > 0 {
		return true
	}
	for _, line := range r.Header["Accept"] {
		for kind := range strings.SplitSeq(line, ",") {
			if isEventStream(kind) {
				return true
			}
		}
	}
	return false
}
