package report_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kalan-go/kalan/sim"
)

// A thousand arms of a hundred services are a page that can still be opened,
// with the arms that fared worst.
func TestThePageIsBounded(t *testing.T) {
	one := small(t)
	r := *one
	r.Arms = nil
	for i := range 1000 {
		a := one.Arms[1]
		if i == 777 {
			a = one.Arms[0]
		}
		a.Name, a.Checks = fmt.Sprintf("arm %d", i), nil
		if i == 888 {
			a.Checks = one.Arms[1].Checks
		}
		a.Services, a.Loads = nil, nil
		for j := range 100 {
			service, load := one.Arms[0].Services[0], one.Arms[0].Loads[0]
			service.Name, load.Name = fmt.Sprintf("service-%d", j), fmt.Sprintf("load-%d", j)
			a.Services, a.Loads = append(a.Services, service), append(a.Loads, load)
		}
		r.Arms = append(r.Arms, a)
	}
	text := written(t, &r)
	if len(text) > 6<<20 {
		t.Errorf("the page has %d bytes", len(text))
	}
	for _, want := range []string{"The page shows 40 arms of 1,000", "<h2><bdi>arm 777</bdi>", "<h2><bdi>arm 888</bdi>", "<h2><bdi>arm 0</bdi>", "service-49"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(text, "<h2><bdi>arm 500</bdi>") || strings.Contains(text, "service-51<") {
		t.Error("the page has everything")
	}
	r.Arms = r.Arms[:3]
	if strings.Contains(written(t, &sim.Result{Arms: r.Arms}), "The page shows") {
		t.Error("a page of three arms leaves something out")
	}
}
