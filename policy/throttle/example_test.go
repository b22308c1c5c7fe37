package throttle_test

import (
	"fmt"
	"time"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/throttle"
)

// A dependency takes 100 of 400 requests a second. Twice what it takes is sent, and
// the other half of what is offered never leaves the process.
func Example() {
	t := throttle.New(throttle.Config{})
	sent, refused := 0, 0
	for i := range 400 * 60 {
		now := policy.Instant(i) * policy.Instant(time.Second) / 400
		mark, ok := t.Admit(now, 0)
		if !ok {
			refused++
			continue
		}
		sent++
		busy := sent%2 == 0 // takes every other one of those that come
		t.Settle(now, &mark, policy.Ignored, busy)
	}
	fmt.Println(sent > refused, t.Snapshot(policy.Instant(time.Minute)).Levels[0].Share < .1)
	// Output: true true
}
