// Package demo tells the story that Kalan exists for, with real processes: four
// bridges to price and order systems, a gateway between them and their
// callers, and one bridge that stops answering.
//
// The story is told twice, from two configuration files of examples/trading:
// without defences, where the hanging bridge takes the other three with it, and
// with them, where only its own callers notice. Then the claims that the
// documentation makes are held against what was measured, and the command
// fails with the claim that did not hold.
//
// Nothing in it is simulated. The bridges and the gateway are processes of the
// same binary on loopback ports, and the callers are an open loop (package
// openloop) whose deadlines count from the instant when each was due.
package demo
