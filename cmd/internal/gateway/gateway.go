package gateway

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"github.com/kalan-go/kalan/cmd/internal/gateway/accept"
	"github.com/kalan-go/kalan/cmd/internal/gateway/route"
	"github.com/kalan-go/kalan/cmd/internal/gateway/wire"
	"github.com/kalan-go/kalan/drain"
	"github.com/kalan-go/kalan/internal/settings"
	"github.com/kalan-go/kalan/policy/stack"
)

// A Gateway serves one configuration. Make one with New, and then call Run or
// Close.
type Gateway struct {
	file      settings.File
	log       *slog.Logger
	epoch     time.Time
	name      string // as the owner of retries
	header    string // of the remaining time, in canonical form; "" when it does not travel
	trust     wire.Trust
	routes    *route.Table
	targets   []target // by the index of the route
	upstreams []*upstream
	workers   workers
	metrics   *metrics
	entrance

	public, admin net.Listener
	drain         *drain.Drain
	inflight      atomic.Int64 // requests whose callers wait
	leaving       atomic.Bool  // from the first signal on
	cut           atomic.Bool  // what is still open is cut, and must not look whole
	verbose       bool         // write an access log
	panics        panicLog
}

// A target is where the requests of one route go.
type target struct {
	*upstream
	promise       time.Duration // negative: none but the caller's
	level         uint8
	route         uint8         // among those of the upstream
	stage         *accept.Stage // nil: none
	keyed, keyDue bool          // an Idempotency-Key counts; has to be there
}

// New returns a gateway for the file, with its listeners open and nothing
// served yet. An upstream that cannot be reached is no error.
func New(file settings.File, log *slog.Logger) (*Gateway, error) {
	if err := file.Validate().Err(); err != nil {
		return nil, err
	}
	g := &Gateway{file: file.WithDefaults(), log: log, epoch: time.Now(), verbose: log.Enabled(context.Background(), slog.LevelDebug)}
	if g.name, _ = os.Hostname(); g.name == "" {
		g.name = "kalan"
	}
	if g.file.Deadline.Header != settings.NoHeader {
		g.header = http.CanonicalHeaderKey(g.file.Deadline.Header)
	}
	for _, network := range g.file.Trust {
		g.trust = append(g.trust, network.Prefix)
	}
	g.workers.cap(g.file.Workers)
	g.enclose()
	if err := g.encrypt(); err != nil {
		return nil, err
	}
	if err := g.connect(); err != nil {
		return nil, err
	}
	var err error
	g.drain, err = drain.New(drain.Config{Delay: g.file.Drain.Delay, Finish: g.file.Drain.Finish, Grace: g.file.Grace})
	if err != nil {
		return nil, err
	}
	g.metrics = newMetrics(g)
	if g.secrecy != nil {
		g.metrics.registry.MustRegister(g.secrecy)
	}
	if err := g.listen(); err != nil {
		g.Close()
		return nil, err
	}
	return g, nil
}

// connect makes the upstreams and the routes to them.
func (g *Gateway) connect() error {
	byName := make(map[string]*upstream)
	for _, c := range g.file.Upstreams {
		u, err := newUpstream(c, g.now)
		if err != nil {
			return fmt.Errorf("upstreams.%s: %w", c.Name, err)
		}
		g.upstreams = append(g.upstreams, u)
		byName[c.Name] = u
	}
	patterns := make([]route.Pattern, len(g.file.Routes))
	routes := make(map[string]uint8) // so far, of each upstream
	for i, r := range g.file.Routes {
		patterns[i] = route.Pattern(r.Match)
		level, _ := g.file.LevelOf(r.Priority)
		g.targets = append(g.targets, target{
			upstream: byName[r.Upstream],
			promise:  r.Promise,
			level:    level,
			route:    routes[r.Upstream],
			stage:    g.stage(r.Stage),
			keyed:    r.IdempotencyKey != "",
			keyDue:   r.IdempotencyKey == "required",
		})
		routes[r.Upstream] = min(routes[r.Upstream]+1, stack.Routes-1)
	}
	var err error
	g.routes, err = route.New(patterns)
	return err
}

func (g *Gateway) listen() (err error) {
	if g.public, err = net.Listen("tcp", g.file.Listen); err != nil {
		return cannotListen("listen", err)
	}
	admin, err := net.Listen("tcp", g.file.Admin)
	if err != nil {
		return cannotListen("admin", err)
	}
	g.admin = &newest{Listener: admin, most: mostAdmin}
	return nil
}

// Addr returns the address that serves the routes, AdminAddr that of probes
// and metrics.
func (g *Gateway) Addr() net.Addr { return g.public.Addr() }

// AdminAddr returns the address of probes and metrics.
func (g *Gateway) AdminAddr() net.Addr { return g.admin.Addr() }

// Handler returns what serves the routes, for tests and for servers of one's
// own. Served by another server than Run's, requests with two framings are not
// found.
func (g *Gateway) Handler() http.Handler { return http.HandlerFunc(g.serve) }

// Close frees what New has taken, at once. Run does it by itself.
func (g *Gateway) Close() {
	for _, l := range []net.Listener{g.public, g.admin} {
		if l != nil {
			l.Close()
		}
	}
	g.gate.Wait()
	for _, u := range g.upstreams {
		u.transport.CloseIdleConnections()
	}
}

// now is the gateway's clock: monotonic, so that a step of the wall clock is
// nothing (O-12).
func (g *Gateway) now() time.Duration { return time.Since(g.epoch) }
