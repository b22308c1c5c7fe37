package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"time"

	"github.com/kalan-go/kalan/cmd/internal/gateway/accept"
	"github.com/kalan-go/kalan/cmd/internal/gateway/caller"
	"github.com/kalan-go/kalan/cmd/internal/gateway/quota"
	"github.com/kalan-go/kalan/internal/refusal"
	"github.com/kalan-go/kalan/internal/settings"
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/span"
)

// An entrance is what stands before the guards: it tells callers apart, and
// limits connections, tenants and the stages on the way in.
type entrance struct {
	secrecy *secrecy // nil: the listener speaks no TLS
	teller  *caller.Teller
	gate    *accept.Gate
	tenants *quota.Table // the rate of each tenant
	stages  []*accept.Stage
}

// enclose builds the entrance.
func (g *Gateway) enclose() {
	way := *g.file.Accept
	if most := mostConnections(mostFiles()); way.Connections > most {
		g.log.Log(context.Background(), loudness(way.Connections), "the process may not open as many files as it takes for accept.connections",
			"asked", way.Connections, "connections", most)
		way.Connections = most
	}
	g.teller = caller.New(g.file, g.trust)
	answer := turnedAway
	if g.file.TLS != nil {
		answer = nil
	}
	g.gate = accept.New(accept.Config{
		Accept: way, Now: g.instant, Answer: answer,
		Refused: func(took time.Duration) { g.metrics.unrouted.arrival.Observe(took.Seconds()) },
	})
	for _, s := range way.Stages {
		g.stages = append(g.stages, accept.NewStage(way, s))
	}
	if t := g.file.Tenant; t != nil {
		g.tenants = quota.New(t.Rate, t.Burst, t.Keys)
	}
}

// loudness is how loud to say that there will be fewer connections than so many:
// nobody has asked for the default.
func loudness(connections int) slog.Level {
	if connections == settings.DefaultConnections {
		return slog.LevelDebug
	}
	return slog.LevelWarn
}

// keptFiles are the open files that are not clients' connections: those to the
// upstreams, listeners, logs.
const keptFiles = 2 * mostIdle

// mostConnections is how many of so many open files may be clients' connections;
// 0 files means that nobody knows how many there are. Where there are few, half
// of them are kept: without any left no upstream can be reached, and no probe be
// answered.
func mostConnections(files int) int {
	if files <= 0 {
		return math.MaxInt
	}
	return max(files-keptFiles, files/2, 1)
}

func (g *Gateway) instant() policy.Instant { return policy.Instant(g.now()) }

// stage returns the stage of that name, nil for none.
func (g *Gateway) stage(name string) *accept.Stage {
	for _, s := range g.stages {
		if s.Name == name {
			return s
		}
	}
	return nil
}

// turnedAway is the whole answer to a connection that is refused, as bytes:
// there is no request yet that net/http could answer.
func turnedAway(over accept.Limit, after int64) []byte {
	why, detail := policy.Rate, "there are too many new connections"
	switch over {
	case accept.Open:
		why, detail = policy.Full, "as many connections are open as there may be"
	case accept.Address:
		detail = "there are too many new connections from this address"
	}
	p := refusal.Of("accept", why, 0)
	p.Status, p.Detail, p.RetryAfter = http.StatusServiceUnavailable, detail, after
	body, _ := json.Marshal(p) // strings and numbers
	return fmt.Appendf(nil, "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/problem+json\r\nCache-Control: no-store\r\n"+
		"Retry-After: %d\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", after, len(body), body)
}

// identify finds out whose request it is and how important.
func (x *exchange) identify() *problem {
	x.g.teller.Strip(x.peer, x.r.Header)
	tenant, err := x.g.teller.Tenant(x.peer, x.r)
	if err != nil {
		return wrong(http.StatusBadRequest, err.Error())
	}
	level, err := x.g.teller.Level(x.peer, x.r, x.target.level)
	if err != nil {
		return wrong(http.StatusBadRequest, err.Error())
	}
	x.tenant, x.ask.Level = tenant, level
	x.ask.Flow, x.ask.Weight, x.ask.Route = tenant.Flow(), tenant.Weight, x.target.route
	return nil
}

// pace holds the request against the rate of its tenant and of its stage.
func (x *exchange) pace() *problem {
	now := x.g.instant()
	if at, ok := x.g.tenants.Take(now, x.tenant.Key); !ok && !x.g.file.Tenant.Observe {
		return x.refusal("tenant", policy.Rate, at.Sub(now), nil)
	}
	stage, address := x.target.stage, uint64(0)
	if stage.WantsAddress() {
		address = x.g.teller.Address(x.peer, x.r)
	}
	over, after, ok := stage.Take(now, address, x.tenant.Key)
	if ok {
		return nil
	}
	x.g.tenants.Undo(now, x.tenant.Key)
	p := x.refusal("stage "+stage.Name, policy.Rate, 0, nil)
	if over == accept.Rate { // what one caller has used up is its own doing, and this is not
		p.Status = http.StatusServiceUnavailable
	}
	p.RetryAfter = int64(span.Add(after, time.Second-1) / time.Second)
	return p
}
