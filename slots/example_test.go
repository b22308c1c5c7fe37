package slots_test

import (
	"errors"
	"fmt"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/slots"
)

// Reports are rendered two at a time. A third is refused at once, and its reader
// told to come back, before memory is what refuses it.
func Example() {
	rendering, err := slots.New(slots.Config{Name: "reports", Max: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	one, _ := rendering.Take()
	two, _ := rendering.Take()

	_, err = slots.Do(rendering, func() (string, error) { return "a report", nil })
	fmt.Println(errors.Is(err, policy.Full), err)

	one.Give()
	report, err := slots.Do(rendering, func() (string, error) { return "a report", nil })
	fmt.Println(report, err)

	two.Give()
	fmt.Printf("%+v\n", rendering.Snapshot())
	// Output:
	// true kalan: reports: all slots and waiting places are taken
	// a report <nil>
	// {Max:2 Taken:0 Refused:1}
}
