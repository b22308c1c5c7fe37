package jitter_test

import (
	"context"
	"fmt"
	"time"

	"github.com/kalan-go/kalan/jitter"
)

// A gateway of a StatefulSet waits for its turn; the manifest's startup probe
// has to be patient enough for the last one.
func Example() {
	start := jitter.Start{}
	for _, pod := range []string{"gateway-0", "gateway-12", "gateway-119"} {
		fmt.Println(pod, start.Wait(jitter.PlaceOf(pod), 0.5))
	}
	fmt.Println(start.Check(jitter.Probe{Period: 5 * time.Second}, 30, time.Second))
	// Output:
	// gateway-0 250ms
	// gateway-12 6.25s
	// gateway-119 15.25s
	// probe.failures: 3 x 5s allows 15s, and the last process needs 16.5s; write at least 5
}

// Values that were cached together do not end together.
func ExampleLifetime() {
	for _, u := range []float64{0, 0.25, 0.5, 0.75} {
		fmt.Println(jitter.Lifetime{}.Pick(u))
	}
	// Output:
	// 4m0s
	// 4m30s
	// 5m0s
	// 5m30s
}

// A report every hour, spread over ten minutes.
func ExampleSchedule() {
	schedule := jitter.Schedule{Every: time.Hour, Spread: 10 * time.Minute}
	ctx, cancel := context.WithCancel(context.Background())
	cancel() // the service stops
	fmt.Println(schedule.Run(ctx, func(context.Context) { fmt.Println("report") }))
	fmt.Println("first run at", schedule.Next(0, 0.5))
	// Output:
	// context canceled
	// first run at 1h5m0s
}
