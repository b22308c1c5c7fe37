package retry_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/kalan-go/kalan/policy/retry"
)

func TestDefaults(t *testing.T) {
	got := retry.Config{}.WithDefaults()
	want := retry.Config{Attempts: 2, Base: 100 * ms, Factor: 2, Cap: time.Second, Jitter: retry.Full}
	if got != want || got.WithDefaults() != got {
		t.Errorf("%+v, want %+v", got, want)
	}
	if c := (retry.Config{Base: 5 * time.Second}).WithDefaults(); c.Cap != c.Base {
		t.Errorf("a longer base needs a longer cap: %+v", c)
	}
}

func TestValidate(t *testing.T) {
	for _, c := range []struct {
		config retry.Config
		want   []string
	}{
		{retry.Config{}, nil},
		{retry.Config{Attempts: 1, Factor: 1, Jitter: retry.AtOnce}, nil},
		{retry.Config{Base: 5 * time.Second}, nil},
		{retry.Config{Attempts: -1, Base: -1, Cap: -1, Factor: -1, Jitter: 5}, []string{"attempts", "base", "cap", "factor", "jitter"}},
		{retry.Config{Base: 2 * time.Second, Cap: time.Second}, []string{"cap"}},
		{retry.Config{Factor: math.NaN()}, []string{"factor"}},
		{retry.Config{Factor: math.Inf(1)}, []string{"factor"}},
		{retry.Config{Factor: 0.5}, []string{"factor"}},
	} {
		var got []string
		for _, p := range c.config.Validate() {
			got = append(got, p.Path)
			if p.Text == "" || p.Warning {
				t.Errorf("%+v: %+v says nothing or too little", c.config, p)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%+v: problems at %v, want %v", c.config, got, c.want)
		}
	}
}

func TestJitterText(t *testing.T) {
	for j := range retry.AtOnce + 1 {
		text, err := j.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		var back retry.Jitter
		if err := back.UnmarshalText(text); err != nil || back != j {
			t.Errorf("%v is written %q and read as %v, %v", j, text, back, err)
		}
	}
	for _, text := range []string{"", "Full", "none", "full ", "5"} {
		var j retry.Jitter
		if err := j.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is read as %v", text, j)
		}
	}
	if _, err := retry.Jitter(9).MarshalText(); err == nil {
		t.Error("a jitter that does not exist can be written")
	}
}
