package deadline_test

import (
	"fmt"
	"time"

	"github.com/kalan-go/kalan/policy/deadline"
)

// A request comes in with 450 ms left on a route that promises 800 ms. 120 ms
// later it is passed on to a dependency whose attempts may take 800 ms.
func Example() {
	inbound, _ := deadline.ParseMs("450")
	left := deadline.Effective(inbound, 800*time.Millisecond) - 120*time.Millisecond
	out := deadline.Outbound(800*time.Millisecond, left, deadline.DefaultMargin)

	fmt.Printf("X-Remaining-Ms: %s\n", deadline.AppendMs(nil, out))
	fmt.Printf("grpc-timeout: %s\n", deadline.AppendGRPC(nil, out))
	// Output:
	// X-Remaining-Ms: 325
	// grpc-timeout: 325000u
}

// What is malformed is never read as "no deadline".
func ExampleParseMs() {
	_, err := deadline.ParseMs("1.5")
	fmt.Println(err)
	// Output: remaining time "1.5" is not a whole number of milliseconds; write digits only, such as "450"
}

// A chain of two steps with three attempts each that must answer in 200 ms.
func ExampleDivide() {
	fmt.Println(deadline.Divide(200*time.Millisecond, 20*time.Millisecond, 2, 3))
	// Output: 30ms
}
