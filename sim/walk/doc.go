// Package walk plays the budget lesson's model of a call chain, for everybody
// who wants to see what a timeout, a deadline and a retry budget do to each
// other before any of them meets traffic.
//
// A gateway spends its own share of the time, then calls several branches in
// parallel; each branch is a chain of steps, one after the other. Requests are
// walked along the chain one at a time, on a logical clock. How long a step
// takes is read in order from one cycle that all of them share, and branches
// are evaluated one after the other (their time is the larger one), so a run is
// the same to the nanosecond every time: no random numbers, and no statistics
// to argue about.
//
// # What is real in it
//
// The chain is a model; what decides is not. Attempts are planned by
// policy/retry, extra ones are allowed by policy/budget, and remaining time is
// divided and passed on by policy/deadline: the machines that the gateway runs,
// driven by another clock.
//
//   - A step is one retry.Call. With propagation its deadline is the
//     request's, so that with nothing remaining no call is made (B7).
//   - An attempt may take deadline.Outbound(timeout, remaining, 0).
//   - Each step's first attempt is a call of the budget (B8).
//   - A step whose attempts have failed ends its branch; the others go on, and
//     the request has failed.
//
// # What it reports
//
// For each regime (a cycle) and configuration: requests in time, late and
// failed; median and worst end-to-end time, failed requests included; and what
// the chain has to carry: calls made for each call meant, and the inner rate
// that follows from the gateway's (B6). For each retry budget whether it binds,
// compared with the same run without it (B10).
//
// # Limits
//
// Nothing queues: a call's duration does not depend on how many there are. This
// shows what policies do to single requests and to the number of calls, and
// nothing of what that number does to a server; package sim is for that.
package walk
