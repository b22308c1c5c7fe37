package throttle_test

import (
	"fmt"
	"time"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/throttle"
)

// Four hundred requests a second to a dependency that takes one hundred. Twice
// what it takes is sent, and half of what is asked for never leaves the process.
func Example() {
	const second = policy.Instant(time.Second)
	t := throttle.New(throttle.Config{})
	var sent, accepted, refused float64
	for i := range 400 * 120 {
		now := policy.Instant(i) * second / 400
		mark, ok := t.Admit(now, 0, uint64(i))
		if !ok {
			refused++
			continue
		}
		sent++
		busy := accepted >= 100*(1+float64(now/second))
		if !busy {
			accepted++
		}
		t.Settle(now, &mark, policy.Ignored, busy)
	}
	fmt.Printf("%.1f sent for each that is accepted, %.0f %% refused at home\n", sent/accepted, 100*refused/(sent+refused))
	// Output: 2.0 sent for each that is accepted, 50 % refused at home
}
