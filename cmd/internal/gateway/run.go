package gateway

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/drain"
)

// Limits on what a client may send and keep open. What follows the head is
// limited by each request's deadline.
const (
	mostHeaders   = 64 << 10
	headWithin    = 10 * time.Second
	clientIdleFor = 75 * time.Second // longer than balancers keep, so that they close first
	adminIdleFor  = time.Minute
	adminWithin   = 10 * time.Second
)

// Run serves until ctx ends or the process is asked to stop (SIGTERM, or an
// interrupt), and leaves in order (F6): readiness says no at once, requests are
// served on for the delay, then nothing new is taken and what is in flight may
// finish. A second signal ends it at once, unless it is the first one once more.
// It returns the status to exit with: 0, or 1 when work had to be cut or a
// listener failed.
func (g *Gateway) Run(ctx context.Context) int {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGTERM, os.Interrupt)
	defer signal.Stop(signals)
	defer g.surviveHangups()()
	tune(g.log)
	return g.run(ctx, signals)
}

// surviveHangups lets SIGHUP change nothing, until the returned function is
// called. Elsewhere it means to read the configuration again, and whoever sends
// it for that must not end every request at once.
func (g *Gateway) surviveHangups() func() {
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range hangups {
			g.log.Warn("a hangup changes nothing: the configuration is read at the start; start anew to read it again")
		}
	}()
	return func() {
		signal.Stop(hangups)
		close(hangups)
		<-done
	}
}

func (g *Gateway) run(ctx context.Context, signals <-chan os.Signal) int {
	defer g.Close()
	public, admin := g.publicServer(), g.adminServer()
	var running sync.WaitGroup
	defer running.Wait()
	watching, stop := context.WithCancel(context.Background())
	defer stop()
	failed := make(chan error, 2)
	running.Go(func() { failed <- public.Serve(listener{g.public, g}) })
	running.Go(func() { failed <- admin.Serve(g.admin) })
	running.Go(func() { kalan.Watch(watching, kalan.SlogObserver(g.log), g.guards()...) })
	running.Go(func() { g.secrecy.renew(watching) })
	defer admin.Close()
	g.log.Info("serving", "listen", g.Addr().String(), "admin", g.AdminAddr().String(),
		"tls", g.secrecy != nil, "upstreams", len(g.upstreams), "routes", len(g.targets), "defences", g.file.Defences.String())
	select {
	case err := <-failed:
		g.log.Error("a listener failed", "error", err)
		public.Close()
		return 1
	case s := <-signals:
		g.log.Info("leaving", "signal", s.String(), "delay", max(g.file.Drain.Delay, 0), "finish", max(g.file.Drain.Finish, 0))
	case <-ctx.Done():
		g.log.Info("leaving", "delay", max(g.file.Drain.Delay, 0), "finish", max(g.file.Drain.Finish, 0))
	}
	return g.leave(public, signals)
}

// leave takes the gateway out of service and returns the status.
func (g *Gateway) leave(public *http.Server, signals <-chan os.Signal) int {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		if s := secondSignal(ctx, signals); s != nil {
			g.log.Warn("leaving at once", "signal", s.String())
			cancel()
		}
	}()
	var cut int64
	_, err := g.drain.Run(ctx, drain.Steps{
		Leave:  func() { g.leaving.Store(true) },
		Finish: public.Shutdown,
		Close: func() error {
			cut = g.inflight.Load()
			g.cut.Store(true)
			return public.Close()
		},
	})
	cancel()
	<-watched
	if cut > 0 {
		g.log.Warn("left", "cut", cut)
		return 1
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		g.log.Warn("left", "error", err)
	} else {
		g.log.Info("left")
	}
	return 0
}

// apart is how long after the first signal another one is a second one, and not
// the first once more. A supervisor that signals a process and then its group,
// and Ctrl-C where a script passes it on, deliver two within a millisecond, and
// neither means that what is in flight is to be cut. Nobody presses a key twice
// within it.
const apart = 100 * time.Millisecond

// secondSignal waits for a second signal, and returns nil when ctx ends before.
func secondSignal(ctx context.Context, signals <-chan os.Signal) os.Signal {
	first := time.Now()
	for {
		select {
		case s := <-signals:
			if time.Since(first) >= apart {
				return s
			}
		case <-ctx.Done():
			return nil
		}
	}
}

func (g *Gateway) publicServer() *http.Server {
	var onlyHTTP1 http.Protocols
	onlyHTTP1.SetHTTP1(true)
	return &http.Server{
		Handler:           g.Handler(),
		Protocols:         &onlyHTTP1,
		ReadHeaderTimeout: headWithin,
		IdleTimeout:       clientIdleFor,
		MaxHeaderBytes:    mostHeaders,
		ConnContext:       remember,
		ErrorLog:          slog.NewLogLogger(g.log.Handler(), slog.LevelDebug),
		// "OPTIONS *" is a request like any other, or connections would lose count.
		DisableGeneralOptionsHandler: true,
	}
}

func (g *Gateway) adminServer() *http.Server {
	return &http.Server{
		Handler:           g.adminHandler(),
		ReadHeaderTimeout: headWithin,
		ReadTimeout:       adminWithin,
		WriteTimeout:      adminWithin,
		IdleTimeout:       adminIdleFor,
		MaxHeaderBytes:    mostHeaders,
		BaseContext:       func(net.Listener) context.Context { return context.Background() },
		ErrorLog:          slog.NewLogLogger(g.log.Handler(), slog.LevelDebug),
	}
}
