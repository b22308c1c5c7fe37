package kalanprom_test

import (
	"context"
	"fmt"
	"log"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/adapters/kalanprom"
)

func Example() {
	guard, err := kalan.New(kalan.Config{Name: "bridge-a"})
	if err != nil {
		log.Fatal(err)
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(kalanprom.New(guard))

	if _, err := kalan.Do(context.Background(), guard, func(context.Context) (int, error) { return 42, nil }); err != nil {
		log.Fatal(err)
	}
	families, err := registry.Gather()
	if err != nil {
		log.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() == "kalan_calls_total" {
			fmt.Println(family.GetName(), family.GetMetric()[0].GetCounter().GetValue())
		}
	}
	// Output: kalan_calls_total 1
}
