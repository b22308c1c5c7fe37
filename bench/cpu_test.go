package bench

import (
	"syscall"
	"testing"
	"time"
)

// A meter adds the processor time of each call to a benchmark's figures. Where
// other work shares the machine, a wall clock counts that too; the processor
// time counts this process alone, its garbage collector included.
type meter struct{ began time.Duration }

func startMeter() meter { return meter{processorTime()} }

func (m meter) report(b *testing.B) {
	b.ReportMetric(float64(processorTime()-m.began)/float64(b.N), "cpu-ns/op")
}

// processorTime is what this process has used so far, of every core.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
