package gateway

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/kalan-go/kalan/internal/settings"
	"github.com/kalan-go/kalan/policy"
)

func TestWorkers(t *testing.T) {
	var w workers
	if w.take(time.Time{}, nil) != policy.None {
		t.Error("without a cap somebody waits")
	}
	w.give()
	w.cap(1)
	if w.take(time.Time{}, nil) != policy.None {
		t.Error("a free worker is not given")
	}
	gone := make(chan struct{})
	close(gone)
	if why := w.take(time.Time{}, gone); why != policy.Gone {
		t.Errorf("a caller that left: %v", why)
	}
	if why := w.take(time.Now().Add(5*time.Millisecond), nil); why != policy.Expired {
		t.Errorf("a caller without time: %v", why)
	}
	var served sync.WaitGroup
	for range mostWaiting {
		served.Go(func() {
			if w.take(time.Time{}, nil) == policy.None {
				w.give()
			}
		})
	}
	until(t, "the queue fills", func() bool { return w.waiting.Load() == mostWaiting })
	if why := w.take(time.Time{}, nil); why != policy.Full {
		t.Errorf("a full queue: %v", why)
	}
	w.give()
	served.Wait()
	if len(w.busy) != 0 || w.waiting.Load() != 0 {
		t.Errorf("%d busy, %d wait", len(w.busy), w.waiting.Load())
	}
}

// twoBridges is a gateway with an upstream that hangs until its callers leave
// for good, and one that answers.
func twoBridges(t *testing.T, workers int, defences settings.Defences) (*house, chan struct{}) {
	release := make(chan struct{})
	file := fileFor(backend(t, func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
	}))
	file.Upstreams[0].Name = "sick"
	file.Upstreams = append(file.Upstreams, settings.Upstream{Name: "healthy", Addresses: []string{backend(t, answers("ok"))}})
	file.Routes = []settings.Route{
		{Match: settings.Match{Prefix: "/sick/"}, Upstream: "sick"},
		{Match: settings.Match{Prefix: "/healthy/"}, Upstream: "healthy"},
	}
	file.Workers, file.Defences = workers, defences
	return open(t, file), release
}

// TestSharedWorkersRunDry is F28 in small: without defences one upstream that
// hangs takes the workers of all, and keeps them when its callers have left;
// with defences it takes only its own places.
func TestSharedWorkersRunDry(t *testing.T) {
	for _, defences := range []settings.Defences{settings.DefencesOff, settings.DefencesOn} {
		t.Run(defences.String(), func(t *testing.T) {
			h, release := twoBridges(t, 60, defences)
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			var callers sync.WaitGroup
			for range 100 {
				callers.Go(func() {
					r, _ := http.NewRequestWithContext(ctx, "GET", h.url("/sick/"), nil)
					if a, err := h.client.Do(r); err == nil {
						a.Body.Close()
					}
				})
			}
			gets, patient := 10, &http.Client{Timeout: patience, Transport: h.client.Transport} // as the limit begins
			if defences == settings.DefencesOff {
				gets, patient.Timeout = 60, time.Second
			}
			until(t, "the sick one has what it can get", func() bool { return h.upstreams[0].guard.Snapshot().InFlight >= gets })
			if defences == settings.DefencesOff {
				leave()
				callers.Wait()
				if n := len(h.workers.busy); n != 60 {
					t.Errorf("%d of 60 workers are busy after the callers have left", n)
				}
			}
			a, err := patient.Get(h.url("/healthy/"))
			if err == nil {
				a.Body.Close()
			}
			if dry := err != nil; dry != (defences == settings.DefencesOff) {
				t.Errorf("the healthy one: %v", err)
			}
			close(release)
			callers.Wait()
			until(t, "workers come free", func() bool { return len(h.workers.busy) == 0 })
		})
	}
}

func TestAFullQueueForWorkersIsAnswered(t *testing.T) {
	h, release := twoBridges(t, 1, settings.DefencesOn)
	go h.client.Get(h.url("/sick/"))
	until(t, "the worker is busy", func() bool { return len(h.workers.busy) == 1 })
	late := h.do(t, "GET", "/healthy/", "", "X-Remaining-Ms: 100")
	if p := late.problem(t); late.StatusCode != 504 || p.Guard != "workers" || p.Reason != "expired" {
		t.Errorf("%d %s", late.StatusCode, late.body)
	}
	h.workers.waiting.Store(mostWaiting)
	full := h.do(t, "GET", "/healthy/", "")
	if p := full.problem(t); full.StatusCode != 503 || p.Guard != "workers" || p.Reason != "full" || full.Header.Get("Retry-After") == "" {
		t.Errorf("%d %s", full.StatusCode, full.body)
	}
	h.workers.waiting.Store(0)
	close(release)
}
