//go:build race

package world

// race: the tests run under the race detector.
const race = true
