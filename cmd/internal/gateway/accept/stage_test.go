package accept

import (
	"testing"
	"time"

	"github.com/kalan-go/kalan/internal/settings"
)

func login(s settings.Stage, observe bool) *Stage {
	s.Name = "login"
	return NewStage(way(func(a *settings.Accept) { a.Stages, a.Observe = []settings.Stage{s}, observe }), s)
}

func TestAStage(t *testing.T) {
	s := login(settings.Stage{
		Rate: 10, Burst: 4, PerAddress: settings.Quota{Rate: 1, Burst: 2}, PerTenant: settings.Quota{Rate: 1, Burst: 3},
	}, false)
	for i, c := range []struct {
		address, tenant uint64
		over            Limit
		ok              bool
	}{
		{1, 1, 0, true}, {1, 1, 0, true}, {1, 2, Address, false}, // its third
		{2, 1, 0, true}, {3, 1, Tenant, false}, // its fourth
		{3, 2, 0, true}, {4, 3, Rate, false}, // everybody's fifth
	} {
		over, after, ok := s.Take(0, c.address, c.tenant)
		if over != c.over || ok != c.ok {
			t.Errorf("the %d.: over %v, %v; want %v, %v", i+1, over, ok, c.over, c.ok)
		}
		if !ok && (after < 3*time.Second || after > 9*time.Second) {
			t.Errorf("the %d. comes back in %v", i+1, after)
		}
	}
	if s.Passed() != 4 || s.Refused(Address) != 1 || s.Refused(Tenant) != 1 || s.Refused(Rate) != 1 {
		t.Errorf("%d passed", s.Passed())
	}
	// What was refused for everybody's rate has cost nobody anything.
	for i, c := range []struct {
		address, tenant uint64
		ok              bool
	}{{4, 3, true}, {4, 3, true}, {4, 3, false}} {
		if _, _, ok := s.Take(second/2, c.address, c.tenant); ok != c.ok {
			t.Errorf("half a second later, the %d.: %v", i+1, ok)
		}
	}
}

func TestNoStageLetsEverybodyThrough(t *testing.T) {
	var none *Stage
	if _, _, ok := none.Take(0, 1, 1); !ok || none.WantsAddress() {
		t.Error("no stage is one")
	}
	if s := login(settings.Stage{Rate: 1}, false); s.WantsAddress() {
		t.Error("an address is asked for that nobody looks at")
	}
	if s := login(settings.Stage{Rate: 1, PerAddress: settings.Quota{Rate: 1}}, false); !s.WantsAddress() {
		t.Error("no address is asked for")
	}
}

func TestAStageThatObserves(t *testing.T) {
	s := login(settings.Stage{Rate: 1}, true)
	for range 5 {
		if _, _, ok := s.Take(0, 0, 0); !ok {
			t.Fatal("refused")
		}
	}
	if s.Passed() != 5 || s.Refused(Rate) != 4 {
		t.Errorf("%d passed, %d over the rate", s.Passed(), s.Refused(Rate))
	}
}
