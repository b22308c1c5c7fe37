package limit_test

import (
	"fmt"
	"time"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/limit"
)

func ExampleFixed() {
	l := limit.New(limit.Fixed(1))
	now := policy.Instant(0)

	call := l.Take(now)
	fmt.Println("free while it runs:", l.Free())

	now = now.Add(20 * time.Millisecond)
	l.Give(now, &call, limit.Sample{Outcome: policy.Success})
	fmt.Println("free when it ended:", l.Free())
	// Output:
	// free while it runs: false
	// free when it ended: true
}

// The default needs no number. What it predicts tells which callers to refuse.
func ExampleLimit_Predict() {
	l := limit.New(limit.Config{})
	now := policy.Instant(0)
	for range 20 {
		call := l.Take(now)
		now = now.Add(20 * time.Millisecond)
		l.Give(now, &call, limit.Sample{Outcome: policy.Success})
	}
	remaining := 15 * time.Millisecond
	fmt.Println("can be served:", l.Predict(now, l.InFlight()+1) <= remaining)
	// Output:
	// can be served: false
}
