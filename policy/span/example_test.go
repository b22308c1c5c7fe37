package span_test

import (
	"fmt"
	"math"
	"time"

	"github.com/kalan-go/kalan/policy/span"
)

// A Retry-After of 9,223,372,037 seconds is a very long wait, and not the
// negative one that the product wraps to.
func ExampleMul() {
	seconds := int64(9223372037)

	fmt.Println(time.Duration(seconds) * time.Second)
	fmt.Println(span.Mul(time.Second, seconds) == span.Max)
	// Output:
	// -2562047h47m16.709551616s
	// true
}

func ExampleScale() {
	fmt.Println(span.Scale(100*time.Millisecond, 1.5))
	fmt.Println(span.Scale(time.Second, math.Inf(1)) == span.Max)
	fmt.Println(span.Scale(time.Second, math.NaN()))
	// Output:
	// 150ms
	// true
	// 0s
}

// Parse refuses what has been misread before, and says what to write.
func ExampleParse() {
	for _, text := range []string{"1m30s", "600", "-5s"} {
		d, err := span.Parse(text)
		fmt.Println(d, err)
	}
	// Output:
	// 1m30s <nil>
	// 0s "600" has no unit; write "600ms" or "600s"
	// 0s "-5s" has a sign; write a plain duration, such as "5s"
}

func ExampleRange() {
	var wait span.Range
	if err := wait.UnmarshalText([]byte("2s-5s")); err != nil {
		panic(err)
	}
	fmt.Println(wait, wait.Pick(0), wait.Pick(.5))
	// Output:
	// 2s-5s 2s 3.5s
}
