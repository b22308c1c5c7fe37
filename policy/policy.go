// Package policy is the vocabulary that every Kalan policy speaks: instants,
// reasons, outcomes and reports.
//
// A policy is a small state machine that is told the time. It never sleeps,
// never reads a clock, starts no goroutine and takes no lock: a method whose
// answer depends on the time takes now as its first argument, and every answer
// is a value that says what to do and when to ask again. Two drivers run the
// same machines, the wall-clock driver of package kalan and the virtual clock
// of package sim, which is what makes a simulation a prediction.
//
// Three rules hold for every machine below this directory:
//
//   - A now that is smaller than one already seen counts as the last one seen:
//     backwards time is nothing elapsed.
//   - Early, late and repeated questions are harmless.
//   - Whatever is taken is given back exactly once; a stale, double or late
//     return changes nothing.
package policy

import "time"

// An Outcome says what one attempt tells about the dependency it called.
type Outcome uint8

const (
	// Ignored says nothing about the dependency: a business error, an answer
	// that is correct and unwelcome. It is the zero value, so that an outcome
	// that nobody classified never opens a breaker.
	Ignored Outcome = iota
	// Success: the dependency did its work.
	Success
	// Failure: the dependency, or the way to it, is at fault.
	Failure
	// Cut: the caller left (cancelled, or its deadline passed) before the
	// dependency answered. It blames nobody by itself; how long the attempt
	// had been running may.
	Cut
)

// String returns the outcome's name as it is written in logs and scenarios.
func (o Outcome) String() string {
	switch o {
	case Ignored:
		return "ignored"
	case Success:
		return "success"
	case Failure:
		return "failure"
	case Cut:
		return "cut"
	}
	return "invalid"
}

// A Report is what a driver tells the machines of one attempt.
type Report struct {
	// Outcome says what the attempt tells about the dependency.
	Outcome Outcome
	// Final forbids another attempt: the request may not be repeated, or
	// repeating it cannot help.
	Final bool
	// Refused says that the dependency itself had no room for the request (429,
	// 503, RESOURCE_EXHAUSTED): the limit adapts to that.
	Refused bool
	// RetryAfter is how long the dependency asked callers to stay away; 0
	// means that it did not say. It is never shortened: when it does not fit
	// the deadline or the configured cap, the call ends.
	RetryAfter time.Duration
}
