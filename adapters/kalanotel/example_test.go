package kalanotel_test

import (
	"context"
	"fmt"
	"io"
	"log"

	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/adapters/kalanotel"
)

// One failed attempt and one that answers are two spans.
func Example() {
	spans := tracetest.NewSpanRecorder() // or an exporter
	provider := sdk.NewTracerProvider(sdk.WithSpanProcessor(spans))
	recorder := kalanotel.New(provider.Tracer("prices"))

	guard, err := kalan.New(kalan.Config{Name: "bridge-a"})
	if err != nil {
		log.Fatal(err)
	}
	tries := 0
	price, err := kalanotel.Do(context.Background(), recorder, guard, func(context.Context) (int, error) {
		if tries++; tries == 1 {
			return 0, io.ErrUnexpectedEOF
		}
		return 42, nil
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, span := range spans.Ended() {
		fmt.Println(span.Name(), span.Status().Code)
	}
	fmt.Println(price)
	// Output:
	// bridge-a Error
	// bridge-a Unset
	// 42
}
