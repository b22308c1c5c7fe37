package jitter

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

func TestOrdinalsAreReadFromStatefulSetNames(t *testing.T) {
	for name, want := range map[string]string{
		"gateway-0":                         "ordinal 0",
		"gateway-12":                        "ordinal 12",
		"gateway-119.gateway.prod.svc":      "ordinal 119",
		"my-gateway-7":                      "ordinal 7",
		"gateway-9999":                      "ordinal 9999",
		"gateway-12345":                     "hash 0.610",
		"prices-7d9f8b6c5d-24567":           "hash 0.323",
		"prices-7d9f8b6c5d-x2x9k":           "hash 0.074",
		"prices-7d9f8b6c5d-x2x9l":           "hash 0.759",
		"gateway-007":                       "hash 0.111",
		"gateway-":                          "hash 0.460",
		"-3":                                "hash 0.742",
		"12":                                "hash 0.433",
		"gateway--1":                        "ordinal 1",
		"gateway-+1":                        "hash 0.991",
		"":                                  "hash 0.937",
		"gateway-99999999999999999999999":   "hash 0.936",
		"gateway.prod-12":                   "hash 0.262",
		"gateway-\u0661":                    "hash 0.600",
		strings.Repeat("x", 1<<16) + "-1":   "ordinal 1",
		strings.Repeat("-", 1<<16) + "zz-z": "hash 0.783",
	} {
		if got := PlaceOf(name).String(); got != want {
			t.Errorf("PlaceOf(%.40q) is %s, want %s: names keep their place in every release", name, got, want)
		}
	}
}

func TestHashedPlacesAreEven(t *testing.T) {
	const names, parts = 31_000, 31
	var counts [parts]float64
	for i := range names {
		counts[int(PlaceOf(fmt.Sprintf("gateway-7d9f8b6c5d-%05dx", i)).share*parts)]++
	}
	var chi float64
	for _, n := range counts {
		chi += (n - names/parts) * (n - names/parts) / (names / parts)
	}
	if chi > 59.7 { // 30 degrees of freedom: exceeded by chance once in a thousand
		t.Errorf("chi square %.1f over %v", chi, counts)
	}
}

// F3: 500 ms x ordinal, cap 15 s, jitter 0-500 ms.
func TestTheWaitIsStepsUpToTheCapAndJitter(t *testing.T) {
	const ms = time.Millisecond
	hashed := Place{share: 0.5, hashed: true}
	for _, test := range []struct {
		start Start
		place Place
		u     float64
		want  time.Duration
	}{
		{Start{}, Nth(0), 0, 0},
		{Start{}, Nth(0), 0.5, 250 * ms},
		{Start{}, Nth(1), 0, 500 * ms},
		{Start{}, Nth(12), 0.5, 6250 * ms},
		{Start{}, Nth(30), 0, 15000 * ms},
		{Start{}, Nth(31), 0, 15000 * ms},
		{Start{}, Nth(119), 0.5, 15250 * ms},
		{Start{}, Nth(math.MaxInt), 0.5, 15250 * ms},
		{Start{}, Nth(-3), 0, 0},
		{Start{}, hashed, 0.5, 7750 * ms},
		{Start{Jitter: -1}, Nth(2), 0.5, 1000 * ms},
		{Start{Jitter: -1}, hashed, 0.5, 7750 * ms}, // one step: never none
		{Start{Step: time.Hour, Cap: math.MaxInt64}, Nth(math.MaxInt), 0.5, math.MaxInt64},
	} {
		if got := test.start.Wait(test.place, test.u); got != test.want {
			t.Errorf("%+v.Wait(%v, %v) = %v, want %v", test.start, test.place, test.u, got, test.want)
		}
	}
}

func TestNobodyWaitsLongerThanTheLongest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Start{Step: anyDuration(t, "step"), Cap: anyDuration(t, "cap"), Jitter: anyDuration(t, "jitter")}
		place := rapid.OneOf(rapid.Map(rapid.Int(), Nth), rapid.Map(rapid.String(), PlaceOf)).Draw(t, "place")
		if wait := s.Wait(place, anyFraction(t)); wait < 0 || wait > s.Longest() {
			t.Fatalf("%+v: %v waits %v, longest %v", s, place, wait, s.Longest())
		}
	})
}

// F3's 120 gateways, with the cap that Check asks for: no half second of the
// minute sees more than three of them.
func TestAHundredAndTwentyGatewaysStartApart(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	perHalfSecond := make(map[int64]int)
	for i := range 120 {
		wait := Start{Cap: time.Minute}.Wait(PlaceOf(fmt.Sprintf("gateway-%d", i)), r.Float64())
		perHalfSecond[int64(wait/(500*time.Millisecond))]++
	}
	for at, n := range perHalfSecond {
		if n > 3 {
			t.Errorf("%d gateways start in half second %d", n, at)
		}
	}
}

func TestSleepWaitsForTheTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		if err := (Start{}).Sleep(t.Context(), "gateway-12"); err != nil {
			t.Fatal(err)
		}
		if waited := time.Since(begun); waited < 6*time.Second || waited > 6500*time.Millisecond {
			t.Errorf("waited %v, want 6 s and up to 500 ms", waited)
		}
	})
}

func TestTheProbeCoversTheWait(t *testing.T) {
	const s = time.Second
	for _, test := range []struct {
		start    Start
		probe    Probe
		replicas int
		boot     time.Duration
		want     string
	}{
		{Start{}, Probe{}, 10, 0, ""},
		{Start{}, Probe{}, 31, 4 * s, ""},
		{Start{}, Probe{Period: 5 * s, Failures: 5}, 10, 0, ""},
		{Start{}, Probe{Period: 5 * s}, 10, 0, "probe.failures: 3 x 5s allows 15s, and the last process needs 15.5s; write at least 5"},
		{Start{}, Probe{Period: 1 * s}, 10, 2 * s, "probe.failures: 3 x 1s allows 3s, and the last process needs 17.5s; write at least 19"},
		{Start{}, Probe{InitialDelay: 16 * s, Period: 1 * s, Failures: 1}, 10, 0, ""},
		{Start{}, Probe{Period: 10 * s, Failures: 2}, 10, 0, "probe.failures: 2 x 10s allows 20s, but the last of these failures comes after 10s already, and the last process needs 15.5s; write 3"},
		{Start{}, Probe{}, 120, 0, "cap: 90 of 120 processes start within the 500ms behind the cap of 15s; write a cap of 59.5s"},
		{Start{}, Probe{Failures: -1}, 1, 0, "probe: has a negative field; write what the manifest says"},
		{Start{}, Probe{Failures: math.MaxInt, Period: math.MaxInt64}, 1, 0, ""},
	} {
		if got := test.start.Check(test.probe, test.replicas, test.boot).Error(); got != test.want {
			t.Errorf("%+v %+v: %q, want %q", test.start, test.probe, got, test.want)
		}
	}
}

// What Check proposes is enough, and one less is not.
func TestTheProposedThresholdIsTheLeast(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := Probe{Period: time.Duration(rapid.Int64Range(1, 1<<40).Draw(t, "period"))}
		need := time.Duration(rapid.Int64Range(1, 1<<45).Draw(t, "need"))
		s := Start{Step: 1, Cap: need, Jitter: -1}
		p.Failures = int(failuresFor(s.Longest(), p))
		if problems := s.Check(p, 1, 0); problems != nil {
			t.Fatalf("%d failures are not enough: %v", p.Failures, problems)
		}
		if p.Failures--; p.Failures > 0 && s.Check(p, 1, 0) == nil {
			t.Fatalf("%d failures are enough too", p.Failures)
		}
	})
}

func TestStagesMustBeStages(t *testing.T) {
	for _, test := range []struct {
		got  string
		want string
	}{
		{Start{}.Validate().Error(), ""},
		{Start{Step: -1, Cap: -1}.Validate().Error(), "step: -1ns is negative; write a duration such as 5s, or leave it out\ncap: -1ns is negative; write a duration such as 5s, or leave it out"},
		{Start{Step: time.Minute}.Validate().Error(), "step: 1m0s is longer than the cap of 15s: all but the first start together; write a shorter step"},
		{Lifetime{}.Validate().Error(), ""},
		{Lifetime{Share: -1}.Validate().Error(), ""},
		{Lifetime{Value: -1, Share: math.NaN()}.Validate().Error(), "value: -1ns is negative; write a duration such as 5s, or leave it out\nshare: NaN is out of range; write a number from 0 to 1"},
		{Lifetime{Share: 1.5}.Validate().Error(), "share: 1.5 is out of range; write a number from 0 to 1"},
	} {
		if test.got != test.want {
			t.Errorf("%q, want %q", test.got, test.want)
		}
	}
}

func FuzzPlaceOf(f *testing.F) {
	for _, name := range []string{"gateway-12", "gateway-7d9f8b6c5d-24567", "-", "a-00", "a-1.b-2", "\xff-1"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		p := PlaceOf(name)
		if p.share < 0 || p.share >= 1 || p.ordinal < 0 || p.ordinal > 9999 {
			t.Errorf("PlaceOf(%q) = %+v", name, p)
		}
		if p.hashed && p.ordinal != 0 || !p.hashed && p.share != 0 {
			t.Errorf("PlaceOf(%q) = %+v is both", name, p)
		}
		label, _, _ := strings.Cut(name, ".")
		if !p.hashed && !strings.HasSuffix(label, fmt.Sprintf("-%d", p.ordinal)) {
			t.Errorf("PlaceOf(%q) has ordinal %d", name, p.ordinal)
		}
	})
}
