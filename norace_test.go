//go:build !race

package kalan_test

const underRace = false
