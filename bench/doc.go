// Package bench does the same work on Kalan and on its peers, side by side.
//
// scripts/bench.sh runs it and makes docs/benchmarks.md. Each benchmark does one
// thing, with a sub-benchmark for each library (peer=...), so that benchstat can
// put them in columns. What is compared is one call that is admitted and
// succeeds, which is nearly every call; a refusal is compared too where the
// peer has one.
//
// Like is compared with like. A policy of Kalan's takes no lock and reads no
// clock by itself; here it gets a mutex, and a clock reading before and after
// the call where the peers read one, which is how its driver uses it. A peer is
// used in the cheapest way that it documents.
package bench
