package main

import (
	"time"

	"github.com/kalan-go/kalan/cmd/internal/strict"
	"github.com/kalan-go/kalan/plan"
)

// A planDocument is the plan of a file as JSON, unrounded.
type planDocument struct {
	Routes   []routeDocument `json:"routes"`
	Warnings []string        `json:"warnings,omitempty"`
}

type routeDocument struct {
	Route      string           `json:"route"`
	Upstream   string           `json:"upstream"`
	PromiseMs  float64          `json:"promise_ms,omitempty"`
	WorstMs    float64          `json:"worst_ms"`
	NeedsMs    float64          `json:"needs_ms"`
	MarginMs   float64          `json:"margin_ms"`
	CheckoutMs float64          `json:"checkout_ms"`
	ExchangeMs float64          `json:"exchange_ms"`
	PausesMs   float64          `json:"pauses_ms"`
	Attempts   int              `json:"attempts"`
	Fit        int              `json:"fit"`
	LateMs     []float64        `json:"late_ms"`
	EarlyMs    []float64        `json:"early_ms"`
	HedgeMs    float64          `json:"hedge_ms,omitempty"`
	DividedMs  float64          `json:"divided_ms,omitempty"`
	Instead    *insteadDocument `json:"instead,omitempty"`
}

// An insteadDocument has its values as the file writes them.
type insteadDocument struct {
	Exchange string `json:"exchange,omitempty"`
	Attempts int    `json:"attempts,omitempty"`
	Promise  string `json:"promise,omitempty"`
}

func (p *filePlan) document(warnings strict.Problems) planDocument {
	var d planDocument
	for _, r := range p.routes {
		d.Routes = append(d.Routes, r.document())
	}
	for _, w := range warnings {
		d.Warnings = append(d.Warnings, w.String())
	}
	return d
}

func (r routePlan) document() routeDocument {
	return routeDocument{
		Route: r.Match.String(), Upstream: r.Upstream, PromiseMs: milli(r.says.Promise), WorstMs: milli(r.Worst), NeedsMs: milli(r.Needs),
		MarginMs: milli(r.says.Margin), CheckoutMs: milli(r.says.Checkout), ExchangeMs: milli(r.says.Exchange), PausesMs: milli(r.Pauses),
		Attempts: r.Attempts, Fit: r.Fit, LateMs: millis(r.Late), EarlyMs: millis(r.Early), HedgeMs: milli(r.Hedge), DividedMs: milli(r.Each),
		Instead: insteadOf(r.instead()),
	}
}

func insteadOf(i plan.Instead) *insteadDocument {
	if i == (plan.Instead{}) {
		return nil
	}
	return &insteadDocument{asWritten(i.Exchange), i.Attempts, asWritten(i.Promise)}
}

func asWritten(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return d.String()
}

func milli(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func millis(all []time.Duration) []float64 {
	list := make([]float64, len(all))
	for i, d := range all {
		list[i] = milli(d)
	}
	return list
}
