package carry_test

import (
	"testing"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/internal/carry"
)

// The innermost word counts, and the absence of one is no ask.
func TestTheInnermostCounts(t *testing.T) {
	if a := carry.Of[kalan.Ask](t.Context()); a != (carry.Asked[kalan.Ask]{}) {
		t.Errorf("nothing carried is %+v", a)
	}
	outer := carry.Asked[kalan.Ask]{Ask: kalan.Ask{Level: 1, Flow: 7, Once: true}, Owner: "edge"}
	inner := carry.Asked[kalan.Ask]{Ask: kalan.Ask{Level: 2}}
	ctx := carry.With(t.Context(), outer)
	if a := carry.Of[kalan.Ask](carry.With(ctx, inner)); a != inner {
		t.Errorf("carries %+v, want %+v", a, inner)
	}
	if a := carry.Of[kalan.Ask](ctx); a != outer {
		t.Errorf("carries %+v, want %+v", a, outer)
	}
	changed := carry.Asked[kalan.Ask]{Ask: inner.Ask, Owner: "edge"}
	if a := carry.Of[kalan.Ask](carry.WithAsk(ctx, inner.Ask)); a != changed {
		t.Errorf("carries %+v after another ask, want %+v", a, changed)
	}
}
