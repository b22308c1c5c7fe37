package kalangrpc

import (
	"context"
	"testing"
	"time"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/policy"
)

// grpc-go may tell of a stream's end before the guard has told of its slot. The
// slot comes back all the same, once, with the outcome of the first end.
func TestStreamThatEndsBeforeItBegan(t *testing.T) {
	guard, err := kalan.New(kalan.Config{Name: "prices"})
	if err != nil {
		t.Fatal(err)
	}
	for _, endFirst := range []bool{true, false} {
		_, held, err := kalan.Hold(t.Context(), guard, kalan.Way[int]{}, func(context.Context) (int, error) { return 0, nil })
		if err != nil {
			t.Fatal(err)
		}
		var slot tenure
		if endFirst {
			slot.end(policy.Failure)
			slot.begin(held, time.Hour)
		} else {
			slot.begin(held, time.Hour)
			slot.end(policy.Failure)
		}
		slot.end(policy.Success)
		if n := guard.Snapshot().InFlight; n != 0 {
			t.Errorf("end first %v: %d slots taken", endFirst, n)
		}
	}
	if o := guard.Snapshot().Counts.Outcomes; o[policy.Failure] != 2 || o[policy.Success] != 0 {
		t.Errorf("outcomes %v, want the two first ends", o)
	}
}
