package gateway

import (
	"log/slog"
	"math"
	"os"
	"runtime/debug"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

const (
	// lazily is GOGC: a gateway's live heap is small, so that collecting when
	// it has grown fivefold costs little memory and saves most collections.
	lazily = 400
	// ofTheLimit is the share of the cgroup's memory at which the collector
	// stops being lazy. The rest is for what it does not count.
	ofTheLimit = .9
)

// tune sets up the garbage collector, unless the environment says otherwise
// (GOGC, GOMEMLIMIT). Each pause is a pause of every request (F23).
func tune(log *slog.Logger) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(lazily)
	}
	limit, err := memlimit.Set(memlimit.WithRatio(ofTheLimit))
	switch {
	case err != nil:
		log.Debug("no memory limit is set", "error", err)
	case limit < math.MaxInt64:
		log.Info("memory is limited", "bytes", limit)
	}
}
