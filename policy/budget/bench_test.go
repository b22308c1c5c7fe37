package budget_test

import (
	"testing"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/budget"
)

// A call that succeeds: what every call pays.
func BenchmarkCall(b *testing.B) {
	machine := budget.New(budget.Config{})
	now := policy.Instant(0)
	b.ReportAllocs()
	for b.Loop() {
		now += 1000
		m := machine.Call(now)
		machine.Heard(true)
		machine.End(now, &m)
	}
}

// A retry, decided and ended.
func BenchmarkRetry(b *testing.B) {
	machine := budget.New(budget.Config{Ratio: 2, Window: -1})
	now := policy.Instant(0)
	b.ReportAllocs()
	for b.Loop() {
		now += 1000
		machine.Call(now)
		m, _ := machine.Retry(now)
		machine.End(now, &m)
	}
}
