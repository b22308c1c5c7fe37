package kalangrpc_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/adapters/kalangrpc"
	"github.com/kalan-go/kalan/kalanhttp"
)

// twice allows two attempts.
func twice(c *kalan.Config) { c.Retry.Attempts = 2 }

// plenty is far more than a busy machine needs, and used is what the handler in
// between spends of it.
const (
	plenty = 20 * time.Second
	used   = 200 * time.Millisecond
)

func spend() { <-time.NewTimer(used).C }

// An HTTP request whose caller owns the retries, and a gRPC call made for it:
// its priority, its mark and what remains of its time go on (F10, F20, O-14).
func TestFromHTTPToGRPC(t *testing.T) {
	for _, trusted := range []bool{true, false} {
		var owner string
		var left time.Duration
		backend := &service{empty: func(ctx context.Context, _ int64) error {
			md, _ := metadata.FromIncomingContext(ctx)
			owner = first(md, "x-retry-owner")
			until, _ := ctx.Deadline()
			left = time.Until(until)
			return status.Error(codes.Unavailable, "down")
		}}
		g := guard(t, twice, exchange(2*plenty))
		client := call(t, backend, kalangrpc.Client{Guard: g, Repeatable: always, Owner: "inner"})
		var asked kalan.Ask
		server := httptest.NewServer(&kalanhttp.Handler{
			Guard:    guard(t, exchange(0), func(c *kalan.Config) { *c = kalanhttp.ForServer(*c) }),
			Trust:    func(*http.Request) bool { return trusted },
			Priority: func(*http.Request) uint8 { return 2 },
			Next: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked = kalangrpc.AskOf(r.Context())
				spend()
				if _, err := client.EmptyCall(r.Context(), &grpc_testing.Empty{}); status.Code(err) != codes.Unavailable {
					t.Errorf("%v", err)
				}
			}),
		})
		r, _ := http.NewRequest("GET", server.URL, nil)
		r.Header.Set("X-Retry-Owner", "edge")
		r.Header.Set("X-Remaining-Ms", strconv.Itoa(int(plenty/time.Millisecond)))
		answer, err := server.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		server.Close()
		checkTravelled(t, trusted, asked, owner, left, backend.hits.Load())
	}
}

// A gRPC call whose caller owns the retries, and an HTTP request sent for it.
func TestFromGRPCToHTTP(t *testing.T) {
	for _, trusted := range []bool{true, false} {
		var owner string
		var left time.Duration
		hits := int64(0)
		backend := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			hits++
			owner = r.Header.Get("X-Retry-Owner")
			ms, _ := strconv.Atoi(r.Header.Get("X-Remaining-Ms"))
			left = time.Duration(ms) * time.Millisecond
			w.WriteHeader(503)
		}))
		g := guard(t, twice, exchange(2*plenty))
		client := &http.Client{Transport: &kalanhttp.Transport{Guard: g, Owner: "inner", Connect: plenty}}
		var asked kalan.Ask
		s := &service{empty: func(ctx context.Context, _ int64) error {
			asked = kalanhttp.AskOf(ctx)
			spend()
			r, err := http.NewRequestWithContext(ctx, "GET", backend.URL, nil)
			if err != nil {
				return err
			}
			answer, err := client.Do(r)
			if err != nil {
				return err
			}
			return errors.Join(answer.Body.Close(), status.Error(codes.Unavailable, answer.Status))
		}}
		_, target := serve(t, s, kalangrpc.Server{
			Guard: guard(t, exchange(2*plenty)),
			Trust: func(context.Context) bool { return trusted },
			Ask:   func(context.Context, string) kalan.Ask { return kalan.Ask{Level: 2} },
		}.Options()...)
		ctx := metadata.AppendToOutgoingContext(within(t, plenty), "x-retry-owner", "edge")
		if _, err := grpc_testing.NewTestServiceClient(dial(t, target)).EmptyCall(ctx, &grpc_testing.Empty{}); err == nil {
			t.Error("the backend has failed, and the call has not")
		}
		client.CloseIdleConnections()
		backend.Close()
		checkTravelled(t, trusted, asked, owner, left, hits)
	}
}

// checkTravelled checks what has arrived two hops further down.
func checkTravelled(t *testing.T, trusted bool, asked kalan.Ask, owner string, left time.Duration, hits int64) {
	t.Helper()
	want, attempts := "edge", int64(1)
	if !trusted {
		want, attempts = "inner", 2
	}
	if asked != (kalan.Ask{Level: 2, Once: trusted}) {
		t.Errorf("trusted %v: the handler was asked %+v", trusted, asked)
	}
	if owner != want || hits != attempts {
		t.Errorf("trusted %v: %d attempts of %q, want %d of %q", trusted, hits, owner, attempts, want)
	}
	if left <= 0 || left > plenty-used {
		t.Errorf("trusted %v: %v are left of %v, of which the hop has used %v", trusted, left, plenty, used)
	}
}
