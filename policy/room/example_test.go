package room_test

import (
	"fmt"
	"time"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/room"
)

func Example() {
	r := room.New(room.Config{Waiting: 1})
	now := policy.Instant(0)
	wait := room.Item{Until: now.Add(50 * time.Millisecond), Deadline: policy.Never}

	fmt.Println("first:", r.Offer(now, 0, wait).Reason.String())
	fmt.Println("second:", r.Offer(now, 1, wait).Reason.String())

	id, why, _ := r.Next(now.Add(50 * time.Millisecond)) // a slot came free too late
	fmt.Println(id, "is refused:", why.String())
	// Output:
	// first: none
	// second: full
	// 0 is refused: waited
}
