package sim

import (
	"fmt"
	"slices"
	"strings"
)

// A Target names a service, or one of its routes: "service" or "service/route".
type Target struct{ Service, Route string }

// String writes the target as it is read.
func (t Target) String() string {
	if t.Route == "" {
		return t.Service
	}
	return t.Service + "/" + t.Route
}

// MarshalText writes the target as UnmarshalText reads it.
func (t Target) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText reads "service" or "service/route".
func (t *Target) UnmarshalText(text []byte) error {
	service, route, two := strings.Cut(string(text), "/")
	if service == "" || two && route == "" || strings.Contains(route, "/") {
		return fmt.Errorf(`%.60q is not a target; write "service" or "service/route"`, text)
	}
	*t = Target{service, route}
	return nil
}

// An Order is which of those who wait is served next.
type Order uint8

const (
	// Oldest serves who has waited longest. The zero value.
	Oldest Order = iota
	// Newest serves who came last.
	Newest
)

var orders = []string{"oldest", "newest"}

// String returns the order's word.
func (o Order) String() string { return word(orders, int(o)) }

// MarshalText writes the word.
func (o Order) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText reads the word.
func (o *Order) UnmarshalText(text []byte) error {
	i, err := read(orders, text)
	*o = Order(i)
	return err
}

// A Trouble is a kind of trigger.
type Trouble uint8

const (
	// Stall: a service does no work; what it has begun waits.
	Stall Trouble = iota + 1
	// Latency: a service is slower.
	Latency
	// Errors: a service fails.
	Errors
	// Spike: a load sends more.
	Spike
	// Flush: a cache is emptied.
	Flush
	// Pause: a process stands still, its clock alone goes on; what came in
	// meanwhile is taken in after it.
	Pause
	// Restart: instances end and begin anew.
	Restart
)

var troubles = []string{"", "stall", "latency", "errors", "spike", "flush", "pause", "restart"}

// String returns the kind's word.
func (t Trouble) String() string { return word(troubles, int(t)) }

// MarshalText writes the word.
func (t Trouble) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText reads the word.
func (t *Trouble) UnmarshalText(text []byte) error {
	i, err := read(troubles, text)
	*t = Trouble(i)
	return err
}

func word(words []string, i int) string {
	if i < len(words) {
		return words[i]
	}
	return fmt.Sprintf("word(%d)", i)
}

func read(words []string, text []byte) (int, error) {
	if i := slices.Index(words, string(text)); i >= 0 && len(text) > 0 {
		return i, nil
	}
	return 0, fmt.Errorf("%.40q is not one of %s", text, strings.TrimPrefix(strings.Join(words, ", "), ", "))
}
