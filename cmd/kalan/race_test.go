//go:build race

package main

// race: the tests run under the race detector.
const race = true
