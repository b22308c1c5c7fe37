package gateway

import (
	"slices"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/policy"
)

// observer writes down what the guards decide that concerns all callers. An
// adaptive limit moves with the traffic, several times a second: that is for
// those who ask for everything.
func (g *Gateway) observer() kalan.Observer {
	all := kalan.SlogObserver(g.log)
	if g.verbose {
		return all
	}
	resized := func(e policy.Event) bool { return e.Kind == policy.Resized }
	return kalan.ObserverFunc(func(guard *kalan.Guard, events []policy.Event, missed uint64) {
		all.Observe(guard, slices.DeleteFunc(slices.Clone(events), resized), missed)
	})
}
