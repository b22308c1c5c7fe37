package breaker

import (
	"testing"
	"time"

	"github.com/kalan-go/kalan/policy"
)

// One call is Admit and Settle. The whole of Do has about 110 ns.
func BenchmarkCall(b *testing.B) {
	for _, c := range []struct {
		name    string
		outcome policy.Outcome
		config  Config
	}{
		{"good", policy.Success, Config{Exchange: exchange}},
		{"failed", policy.Failure, Config{Exchange: exchange, Mode: ForcedClosed}},
		{"count window", policy.Success, Config{Exchange: exchange, Count: 100}},
		{"ramp", policy.Success, Config{Exchange: exchange, Ramp: time.Hour}},
	} {
		b.Run(c.name, func(b *testing.B) {
			breaker := New(c.config)
			if c.config.Ramp > 0 {
				breaker.SetMode(0, ForcedOpen)
				breaker.SetMode(0, Auto)
				for range 5 {
					p, _ := breaker.Admit(0)
					breaker.Settle(0, &p, policy.Success, ms)
				}
			}
			b.ReportAllocs()
			now := policy.Instant(0)
			for b.Loop() {
				now += 1000
				p, _ := breaker.Admit(now)
				breaker.Settle(now, &p, c.outcome, ms)
			}
		})
	}
}

func BenchmarkRefusal(b *testing.B) {
	breaker := New(Config{Mode: ForcedOpen})
	b.ReportAllocs()
	for b.Loop() {
		breaker.Admit(0)
	}
}

func BenchmarkSnapshot(b *testing.B) {
	breaker := New(Config{Exchange: exchange})
	b.ReportAllocs()
	for b.Loop() {
		breaker.Snapshot(0)
	}
}
