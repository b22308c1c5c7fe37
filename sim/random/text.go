package random

import (
	"errors"
	"fmt"
	"math"
	"strings"
)

// Parse reads a law as the package comment writes it.
func Parse(text string) (Law, error) {
	words := strings.Fields(text)
	if len(words) == 0 {
		return Law{}, errors.New(`is empty; write a law such as "exponential 10ms"`)
	}
	form, known := forms[words[0]]
	if !known {
		if len(words) > 1 || strings.Trim(words[0], "0123456789.nuµmsh") != "" {
			return Law{}, fmt.Errorf("%.40q is not a law; write one of %s, or a duration", words[0], formNames)
		}
		form, words = forms["constant"], append([]string{"constant"}, words...)
	}
	l, err := form.read(words[1:])
	if err != nil {
		return Law{}, fmt.Errorf("%s: %w; write for example %q", words[0], err, form.example)
	}
	return l, nil
}

// UnmarshalText reads what Parse reads.
func (l *Law) UnmarshalText(text []byte) error {
	law, err := Parse(string(text))
	if err == nil {
		*l = law
	}
	return err
}

// MarshalText writes the law as Parse reads it.
func (l Law) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// String writes the law as Parse reads it.
func (l Law) String() string {
	a, b := nanoseconds(l.a), nanoseconds(l.b)
	switch l.kind {
	case exponential:
		return fmt.Sprintf("exponential %v", a)
	case lognormal:
		return fmt.Sprintf("lognormal mean %v sigma %v", l.Mean(), l.b)
	case erlang:
		return fmt.Sprintf("erlang %d %v", l.phases, l.Mean())
	case normal:
		return fmt.Sprintf("normal %v %v", a, b)
	case uniform:
		return fmt.Sprintf("uniform %v %v", a, b)
	case hyper:
		return "hyper" + l.pairs()
	case values:
		return "values" + l.pairs()
	case histogram:
		return "histogram" + l.pairs()
	case cycle:
		return "cycle" + l.pairs()
	}
	return a.String()
}

func (l Law) pairs() string {
	var out strings.Builder
	low := 0.0
	for i, t := range l.times {
		if l.kind != cycle {
			fmt.Fprintf(&out, " %v", math.Round((l.shares[i]-low)*1e9)/1e9)
			low = l.shares[i]
		}
		fmt.Fprintf(&out, " %v", nanoseconds(t))
	}
	return out.String()
}
