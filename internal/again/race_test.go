//go:build race

package main

import (
	"io"
	"strings"
	"testing"
)

// Only where the detector is at hand anyway: building the standard library for
// it takes longer than all the rest.
func TestADataRaceIsNotRunAgain(t *testing.T) {
	enter(t)
	r := goTest(io.Discard, []string{"-race"}, "./races")
	if failed := r.failed(); len(failed) != 1 || failed[0].refusal() != ": there is a data race" || !strings.Contains(failed[0].text(""), "\nWARNING: DATA RACE\n") {
		t.Errorf("%+v", failed)
	}
}
