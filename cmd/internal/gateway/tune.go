package gateway

import (
	"log/slog"
	"math"
	"os"
	"runtime/debug"

	"github.com/kalan-go/kalan/pause"
)

// lazily is GOGC: a gateway's live heap is small, so that collecting when it
// has grown fivefold costs little memory and saves most collections.
const lazily = 400

// tune sets up the garbage collector, unless the environment says otherwise
// (GOGC, GOMEMLIMIT). Each pause is a pause of every request (F23). Near the
// memory that the control group allows, the collector stops being lazy.
func tune(log *slog.Logger) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(lazily)
	}
	limit, err := pause.LimitMemory(0)
	switch {
	case err != nil:
		log.Warn("no memory limit is set", "error", err)
	case limit == 0:
		log.Debug("no memory limit is set: no control group has one")
	case limit < math.MaxInt64: // as GOMEMLIMIT=off is
		log.Info("memory is limited", "bytes", limit)
	}
}
