package gateway

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/kalan-go/kalan/cmd/internal/gateway/accept"
	"github.com/kalan-go/kalan/cmd/internal/gateway/quota"
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/stack"
)

// A status is the gateway at one moment, as /status shows it to whoever looks by
// hand. What is to be kept and compared is in /metrics.
type status struct {
	Name        string                    `json:"name"`
	Uptime      string                    `json:"uptime"`
	Drain       string                    `json:"drain"`
	InFlight    int64                     `json:"in_flight"`
	Workers     workerStatus              `json:"workers"`
	Connections connectionStatus          `json:"connections"`
	Tenants     callerStatus              `json:"tenants"`
	Upstreams   map[string]upstreamStatus `json:"upstreams"`
}

type workerStatus struct {
	Busy    int   `json:"busy"`
	Cap     int   `json:"cap"`
	Waiting int64 `json:"waiting"`
}

type connectionStatus struct {
	Open      int64             `json:"open"`
	Most      int64             `json:"most"`
	Accepted  uint64            `json:"accepted"`
	Refused   map[string]uint64 `json:"refused"` // by limit
	Addresses callerStatus      `json:"addresses"`
}

type callerStatus struct {
	Known      int    `json:"known"`
	Refused    uint64 `json:"refused"`
	Evicted    uint64 `json:"evicted"`
	Overflowed uint64 `json:"overflowed"`
}

type upstreamStatus struct {
	Breaker struct {
		State    string `json:"state"`
		Mode     string `json:"mode"`
		For      string `json:"for"` // how long it has been in that state
		Calls    int    `json:"calls"`
		Failures int    `json:"failures"`
		Slow     int    `json:"slow"`
		Score    int    `json:"score"`
		Opened   uint64 `json:"opened"`
	} `json:"breaker"`
	Throttled float64 `json:"throttled"` // share, of the level of which most are
	Limit     struct {
		Slots    int    `json:"slots"`
		Kind     string `json:"kind"`
		InFlight int    `json:"in_flight"`
		Kept     int    `json:"kept"`
		TooHigh  bool   `json:"too_high"`
	} `json:"limit"`
	Room struct {
		Waiting     int    `json:"waiting"`
		Places      int    `json:"places"`
		Oldest      string `json:"oldest"`
		Sheds       bool   `json:"sheds"`
		NewestFirst bool   `json:"newest_first"`
	} `json:"room"`
	Budget struct {
		Left   int64 `json:"left"`
		Denied int64 `json:"denied"`
	} `json:"budget"`
	Latency struct {
		Mean      string `json:"mean"`
		Deviation string `json:"deviation"`
		P50       string `json:"p50"`
		P99       string `json:"p99"`
	} `json:"latency"`
	Calls        uint64            `json:"calls"`
	Attempts     uint64            `json:"attempts"`
	Retries      uint64            `json:"retries"`
	Refused      map[string]uint64 `json:"refused"`  // by reason
	Outcomes     map[string]uint64 `json:"outcomes"` // of attempts
	Timeouts     uint64            `json:"timeouts"`
	Left         uint64            `json:"left"`
	PresumedDead uint64            `json:"presumed_dead"`
	Wasted       uint64            `json:"wasted"`
}

func (g *Gateway) status(w http.ResponseWriter, _ *http.Request) {
	s := status{
		Name: g.name, Uptime: g.now().Round(time.Millisecond).String(), Drain: g.drain.State().String(), InFlight: g.inflight.Load(),
		Workers:     workerStatus{len(g.workers.busy), cap(g.workers.busy), g.workers.waiting.Load()},
		Connections: showConnections(g.gate.Snapshot()),
		Tenants:     showCallers(g.tenants.Snapshot()),
		Upstreams:   make(map[string]upstreamStatus),
	}
	for _, u := range g.upstreams {
		s.Upstreams[u.name] = showUpstream(u.guard.Snapshot())
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	json.NewEncoder(w).Encode(s)
}

func showConnections(s accept.Snapshot) connectionStatus {
	return connectionStatus{s.Open, s.Most, s.Accepted, named(accept.Limit(0), s.Refused[:]), showCallers(s.Addresses)}
}

func showCallers(s quota.Snapshot) callerStatus {
	return callerStatus{s.Keys, s.Refused, s.Evicted, s.Overflowed}
}

func showUpstream(s stack.Snapshot) (u upstreamStatus) {
	b := &u.Breaker
	b.State, b.Mode, b.For = s.Breaker.State.String(), s.Breaker.Mode.String(), brief(s.At.Sub(s.Breaker.Since))
	b.Calls, b.Failures, b.Slow, b.Score, b.Opened = s.Breaker.Calls, s.Breaker.Failures, s.Breaker.Slow, s.Breaker.Score, s.Counts.Opened
	u.Throttled = s.Throttle.Share()
	l := &u.Limit
	l.Slots, l.Kind, l.InFlight, l.Kept, l.TooHigh = s.Limit, s.Slots.Kind.String(), s.InFlight, s.Kept, s.Slots.TooHigh
	r := &u.Room
	r.Waiting, r.Places, r.Oldest, r.Sheds, r.NewestFirst = s.Waiting, s.Room.Places, brief(s.Oldest), s.Room.Sheds, s.Room.NewestFirst
	u.Budget.Left, u.Budget.Denied = s.Budget.Left, s.Budget.Denied
	t := &u.Latency
	t.Mean, t.Deviation, t.P50, t.P99 = brief(s.Mean), brief(s.Deviation), brief(s.Slots.P50), brief(s.Slots.P99)
	c := &s.Counts
	u.Calls, u.Attempts, u.Retries = c.Calls, c.Started, c.Retries
	u.Refused, u.Outcomes = named(policy.None, c.Refused[:]), named(policy.Ignored, c.Outcomes[:])
	u.Timeouts, u.Left, u.PresumedDead, u.Wasted = c.Timeouts, c.Left, c.Presumed, c.Wasted
	return u
}

// named gives counts the names of what they are indexed by, from first on, and
// leaves out what never happened.
func named[T interface {
	~uint8
	fmt.Stringer
}](first T, counts []uint64) map[string]uint64 {
	m := make(map[string]uint64)
	for i, n := range counts {
		if n > 0 {
			m[(first + T(i)).String()] = n
		}
	}
	return m
}

// brief is a duration without the digits that nobody reads.
func brief(d time.Duration) string { return d.Round(10 * time.Microsecond).String() }
