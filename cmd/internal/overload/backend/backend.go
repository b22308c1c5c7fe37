// Package backend is an upstream of a fixed capacity, for the overload cases:
// so many workers, each of which needs so long for a request, before a backlog
// without a bound. It serves in the order of arrival and does not notice that a
// caller has left, as most services do not. Whatever a gateway lets through
// beyond the capacity waits there, and the longer it waits the less of it is
// still of use: that is what the cases are about.
//
// Workers and their time can be changed while it serves. It counts what it has
// served for callers whose time was up, or who had left: work that was wasted.
package backend

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/kalan-go/kalan/policy/deadline"
)

// A Setting is how many workers there are and how long each needs.
type Setting struct {
	Workers int
	Service time.Duration
}

// Capacity is how many requests a second are served at most.
func (s Setting) Capacity() float64 { return float64(s.Workers) / s.Service.Seconds() }

// Counts are what a backend has done since it was reset.
type Counts struct {
	// Arrived and Served requests; Wasted of the served began when nobody
	// waited for them any more.
	Arrived, Served, Wasted uint64
	// Waiting are in the backlog now, and Longest is how many were at most.
	Waiting, Longest int
}

// A Backend is an upstream. Make one with New; it is an http.Handler.
type Backend struct {
	header string // of the remaining time

	mu      sync.Mutex
	setting Setting
	backlog []*job
	idle    []time.Time // when each worker that has nothing to do was done
	busy    int
	counts  Counts
	under   sync.WaitGroup // requests that are being served
}

type job struct {
	caller  context.Context
	expires time.Time // zero: never
	done    chan struct{}
}

// New returns a backend that reads the remaining time of a request, for its
// count of wasted work alone, from the header.
func New(s Setting, header string) *Backend { return &Backend{header: header, setting: s} }

// Set changes how many workers there are and how long they need. What is being
// served takes as long as it would have.
func (b *Backend) Set(s Setting) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.setting, b.idle = s, nil
	b.begin()
}

// Reset forgets the backlog, whose callers get no answer, and the counts.
func (b *Backend) Reset() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, j := range b.backlog {
		close(j.done)
	}
	b.backlog, b.counts = nil, Counts{}
}

// Counts returns what was done since the last reset.
func (b *Backend) Counts() Counts {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.counts
	c.Waiting = len(b.backlog)
	return c
}

// Close drops the backlog and waits for what is being served.
func (b *Backend) Close() {
	b.Reset()
	b.under.Wait()
}

const inside = "inside;dur="

// Inside returns how long an answer says that its request was in the backend, 0
// where it says nothing.
func Inside(answer http.Header) time.Duration {
	text, said := strings.CutPrefix(answer.Get("Server-Timing"), inside)
	ms, err := strconv.ParseFloat(text, 64)
	if !said || err != nil || !(ms > 0 && ms < 1e9) {
		return 0
	}
	return time.Duration(ms * float64(time.Millisecond))
}

// answer is what everybody gets.
var answer = make([]byte, 1024)

// ServeHTTP answers when a worker has done it, and says how long that took:
// whoever measures tenths of a millisecond on the way can take it off. A
// worker's sleep is up to a millisecond too long, by when the process was last
// woken, and one that was free just before makes its work shorter.
func (b *Backend) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	<-b.join(r).done
	w.Header().Set("Server-Timing", inside+strconv.FormatFloat(time.Since(began).Seconds()*1e3, 'f', 3, 64))
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Write(answer)
}

// join puts a request at the end of the backlog.
func (b *Backend) join(r *http.Request) *job {
	j := &job{caller: r.Context(), done: make(chan struct{})}
	if left, err := deadline.ParseMs(r.Header.Get(b.header)); err == nil {
		j.expires = time.Now().Add(left)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.counts.Arrived++
	b.backlog = append(b.backlog, j)
	b.begin()
	b.counts.Longest = max(b.counts.Longest, len(b.backlog))
	return j
}

// begin gives work to the workers that have none.
func (b *Backend) begin() {
	for b.busy < b.setting.Workers && len(b.backlog) > 0 {
		j, free := b.backlog[0], time.Time{}
		b.backlog = b.backlog[1:]
		if n := len(b.idle); n > 0 {
			free, b.idle = b.idle[n-1], b.idle[:n-1]
		}
		if j.caller.Err() != nil || !j.expires.IsZero() && time.Now().After(j.expires) {
			b.counts.Wasted++
		}
		b.busy++
		takes := b.setting.Service
		b.under.Go(func() { b.serve(j, free, takes) })
	}
}

// serve is a worker that was done with its last request at free.
func (b *Backend) serve(j *job, free time.Time, takes time.Duration) {
	// What the last sleep was too long is given back, so that a busy worker
	// serves exactly one request each time it takes.
	if now := time.Now(); now.Sub(free) > takes/4 {
		free = now
	}
	free = free.Add(takes)
	time.Sleep(time.Until(free))
	b.mu.Lock()
	b.counts.Served++
	b.busy--
	b.idle = append(b.idle, free)
	b.begin()
	b.mu.Unlock()
	close(j.done)
}
