package stack_test

import (
	"encoding"
	"strconv"
	"strings"
	"time"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/limit"
	"github.com/kalan-go/kalan/policy/stack"
	"github.com/kalan-go/kalan/policy/throttle"
)

func (p *player) report(args []string) policy.Report {
	var r policy.Report
	for key, value := range words(args) {
		switch key {
		case "success":
			r.Outcome = policy.Success
		case "failure":
			r.Outcome = policy.Failure
		case "cut":
			r.Outcome = policy.Cut
		case "ignored":
		case "final":
			r.Final = true
		case "refused":
			r.Refused = true
		case "after":
			r.RetryAfter = p.duration(value)
		default:
			p.t.Fatalf("no %q in a report", key)
		}
	}
	return r
}

// config reads the figures of a stack; what is left out has its default.
func (p *player) config(args []string) stack.Config {
	c := stack.Config{Limit: limit.Fixed(25)}
	for key, value := range words(args) {
		switch key {
		case "limit":
			c.Limit = limit.Fixed(p.number(value))
		case "rate":
			c.Rate = float64(p.number(value))
		case "throttle":
			c.Throttle = &throttle.Config{Floor: p.number(value)}
		case "observe":
			c.Throttle.Observe = true
		case "window":
			c.Throttle.Window = p.duration(value)
		case "waiting":
			c.Room.Waiting = p.number(value)
		case "calls":
			c.Breaker.Calls = p.number(value)
		case "probes":
			c.Breaker.Probes = p.number(value)
		case "attempts":
			c.Retry.Attempts = p.number(value)
		case "floor":
			c.Budget.Floor = p.number(value)
		case "cancels":
			c.Cancels = true
		case "mode":
			p.read(&c.Breaker.Mode, value)
		case "jitter":
			p.read(&c.Retry.Jitter, value)
		default:
			*p.time(&c, key) = p.duration(value)
		}
	}
	return c
}

func (p *player) time(c *stack.Config, key string) *time.Duration {
	switch key {
	case "exchange":
		return &c.Exchange
	case "checkout":
		return &c.Checkout
	case "slow":
		return &c.Breaker.Slow
	case "open":
		return &c.Breaker.Open
	case "base":
		return &c.Retry.Base
	case "hedge":
		return &c.Retry.Hedge.After
	}
	p.t.Fatalf("no %q in a stack", key)
	return nil
}

// words splits "key=value" and "key".
func words(args []string) func(func(string, string) bool) {
	return func(yield func(string, string) bool) {
		for _, arg := range args {
			key, value, _ := strings.Cut(arg, "=")
			if !yield(key, value) {
				return
			}
		}
	}
}

func (p *player) read(into encoding.TextUnmarshaler, text string) {
	if err := into.UnmarshalText([]byte(text)); err != nil {
		p.t.Fatal(err)
	}
}

func (p *player) number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		p.t.Fatal(err)
	}
	return n
}

func (p *player) duration(s string) time.Duration {
	d, err := time.ParseDuration(s)
	if err != nil {
		p.t.Fatal(err)
	}
	return d
}
