package gateway

import (
	"os"
	"runtime/debug"
	"testing"
)

// What the environment says of the collector stands; what it leaves open is set.
func TestTheEnvironmentTunesTheCollector(t *testing.T) {
	const asked = 123
	percent, limit := debug.SetGCPercent(asked), debug.SetMemoryLimit(1<<40)
	defer func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	}()
	t.Setenv("GOGC", "123")
	t.Setenv("GOMEMLIMIT", "1TiB")
	tune(logTo(&journal{}))
	if is, most := debug.SetGCPercent(asked), debug.SetMemoryLimit(-1); is != asked || most != 1<<40 {
		t.Errorf("GOGC is %d and the limit %d, against the environment", is, most)
	}
	os.Unsetenv("GOGC") // Setenv puts it back
	tune(logTo(&journal{}))
	if is := debug.SetGCPercent(asked); is != lazily {
		t.Errorf("GOGC is %d where nobody says, want %d", is, lazily)
	}
}
