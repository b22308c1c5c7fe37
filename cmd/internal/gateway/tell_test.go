package gateway

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/breaker"
)

// An adaptive limit moves several times a second. Whoever reads the log for
// what has gone wrong is not told of that, and keeps the slice as it came.
func TestMovesOfTheLimitAreForWhoAsksForEverything(t *testing.T) {
	guard, err := kalan.New(kalan.Config{Name: "bridge"})
	if err != nil {
		t.Fatal(err)
	}
	for level, told := range map[slog.Level]bool{slog.LevelDebug: true, slog.LevelInfo: false} {
		var log strings.Builder
		g := Gateway{log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: level})), verbose: level == slog.LevelDebug}
		events := []policy.Event{{Kind: policy.Resized, Count: 12}, {Kind: policy.Moved, Count: int64(breaker.Open)}}
		g.observer().Observe(guard, events, 0)
		if got := strings.Contains(log.String(), "limit moved"); got != told {
			t.Errorf("%v: told of the limit's moves: %v\n%s", level, got, log.String())
		}
		if !strings.Contains(log.String(), `level=WARN msg="breaker moved" guard=bridge to=open`) {
			t.Errorf("%v: an open breaker is not told\n%s", level, log.String())
		}
		if events[0].Kind != policy.Resized || len(events) != 2 {
			t.Errorf("%v: the events are another's, and now %v", level, events)
		}
	}
}
