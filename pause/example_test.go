package pause_test

import (
	"context"
	"fmt"
	"time"

	"github.com/kalan-go/kalan/pause"
	"github.com/kalan-go/kalan/policy"
)

// A worker takes work from a channel. What nobody waits for any more is not
// begun, however long the process stood still.
func ExampleOver() {
	type job struct {
		ctx  context.Context
		name string
	}
	jobs := make(chan job, 2)
	alive, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	dead, cancel2 := context.WithTimeout(context.Background(), -time.Second)
	defer cancel2()
	jobs <- job{dead, "old"}
	jobs <- job{alive, "new"}
	close(jobs)

	for j := range jobs {
		if why := pause.Over(j.ctx); why != policy.None {
			fmt.Println(j.name, "dropped:", why.String())
			continue
		}
		fmt.Println(j.name, "done")
	}
	// Output:
	// old dropped: expired
	// new done
}

// At the start of main: limit the memory, watch for pauses.
func ExampleWatch() {
	if _, err := pause.LimitMemory(0.9); err != nil {
		fmt.Println(err)
	}
	watch, err := pause.New(pause.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() {
		done <- watch.Run(ctx, func(late time.Duration) { fmt.Println("stood still for", late) })
	}()
	cancel() // the service stops
	fmt.Println(<-done)
	// Output:
	// context canceled
}
