package gateway

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/kalan-go/kalan/policy"
)

// A record is what an exchange leaves behind for metrics and the access log.
type record struct {
	status  int
	outcome string // "" for one that ended in order
	why     policy.Reason
	cause   error
	bytes   int64
	waited  bool // before it was refused
}

func (r *record) refused(p *problem) {
	r.status, r.why, r.cause = p.Status, p.why, p.cause
	r.outcome, r.waited = "refused", p.waited
}

// mend deals with a panic in the handler: the client gets 500 if nothing was
// sent yet, and a broken connection otherwise. It returns what to panic with.
func (x *exchange) mend(p any) any {
	x.g.metrics.panics.Inc()
	x.g.panics.write(x.g.log, x.g.now(), p)
	x.record.outcome, x.record.status = "panic", http.StatusInternalServerError
	if x.begun {
		return http.ErrAbortHandler
	}
	x.refuse(wrong(http.StatusInternalServerError, "the gateway failed on this request; its log says more").andClose())
	return nil
}

// account counts an exchange that is over.
func (g *Gateway) account(x *exchange) {
	took := g.now() - x.began
	meters := &g.metrics.unrouted
	if x.target != nil {
		meters = &x.target.meters
	}
	meters.count(&x.record, took, took-x.waited)
	if g.verbose {
		g.writeAccess(x, took)
	}
}

// writeAccess writes the access log's line. The path is the client's, so it is
// a value and never part of the message.
func (g *Gateway) writeAccess(x *exchange, took time.Duration) {
	line := []slog.Attr{
		slog.String("method", x.r.Method), slog.String("path", x.r.URL.Path), slog.Int("status", x.record.status),
		slog.Int64("bytes", x.record.bytes), slog.Duration("took", took), slog.Int("attempts", int(x.tries.Load())),
	}
	if x.target != nil {
		line = append(line, slog.String("upstream", x.target.name))
	}
	outcome := x.record.outcome
	if outcome == "" {
		outcome = "complete"
	}
	line = append(line, slog.String("outcome", outcome))
	if x.record.why != policy.None {
		line = append(line, slog.String("reason", x.record.why.String()))
	}
	if x.record.cause != nil {
		line = append(line, slog.String("cause", x.record.cause.Error()))
	}
	g.log.LogAttrs(context.Background(), slog.LevelDebug, "request", line...)
}
