package random

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/kalan-go/kalan/policy/span"
)

// longest is the longest that a law may be asked to take on average.
const longest = 365 * 24 * time.Hour

type form struct {
	example string
	read    func(words []string) (Law, error)
}

const formNames = "exponential, lognormal, erlang, hyper, normal, uniform, values, histogram, cycle"

var forms = map[string]form{
	"constant":    {"10ms", readConstant},
	"exponential": {"exponential 10ms", readExponential},
	"lognormal":   {"lognormal p50 8ms p99 120ms", readLognormal},
	"erlang":      {"erlang 4 10ms", readErlang},
	"normal":      {"normal 50ms 12.5ms", readNormal},
	"uniform":     {"uniform 5ms 15ms", readUniform},
	"hyper":       {"hyper 0.9 5ms 0.1 200ms", readPairs(hyper)},
	"values":      {"values 0.9 5ms 0.1 200ms", readPairs(values)},
	"histogram":   {"histogram 90 5ms 10 200ms", readPairs(histogram)},
	"cycle":       {"cycle 6ms 7ms 1000ms", readCycle},
}

func readConstant(words []string) (Law, error) {
	d, err := durations(words, 1)
	if err != nil {
		return Law{}, err
	}
	return Constant(d[0]), nil
}

func readExponential(words []string) (Law, error) {
	d, err := durations(words, 1)
	if err != nil {
		return Law{}, err
	}
	return Exponential(d[0]), nil
}

func readNormal(words []string) (Law, error) {
	d, err := durations(words, 2)
	switch {
	case err != nil:
		return Law{}, err
	case d[1] == 0:
		return Constant(d[0]), nil
	}
	return Normal(d[0], d[1]), nil
}

func readUniform(words []string) (Law, error) {
	d, err := durations(words, 2)
	switch {
	case err != nil:
		return Law{}, err
	case d[0] > d[1]:
		return Law{}, fmt.Errorf("%v is more than %v", d[0], d[1])
	}
	return Law{kind: uniform, a: float64(d[0]), b: float64(d[1])}, nil
}

func readErlang(words []string) (Law, error) {
	if len(words) != 2 {
		return Law{}, errors.New("takes a number of phases and a mean")
	}
	phases, err := strconv.Atoi(words[0])
	if err != nil || phases < 1 || phases > 1000 {
		return Law{}, fmt.Errorf("%.40q is not a number of phases from 1 to 1000", words[0])
	}
	d, err := durations(words[1:], 1)
	if err != nil {
		return Law{}, err
	}
	return Erlang(phases, d[0]), nil
}

// readLognormal reads two percentiles, or mean and sigma.
func readLognormal(words []string) (Law, error) {
	if len(words) != 4 {
		return Law{}, errors.New("takes two percentiles, or mean and sigma")
	}
	first, err := durations(words[1:2], 1)
	if err != nil {
		return Law{}, err
	}
	if first[0] == 0 {
		return Law{}, errors.New("has no logarithm at 0")
	}
	if words[0] == "mean" && words[2] == "sigma" {
		sigma, err := number(words[3], 0, 10)
		return Lognormal(first[0], sigma), err
	}
	second, err := durations(words[3:], 1)
	if err != nil {
		return Law{}, err
	}
	return between(words[0], first[0], words[2], second[0])
}

// between returns the lognormal law with those two percentiles.
func between(low string, at time.Duration, high string, upTo time.Duration) (Law, error) {
	p, err := percentile(low)
	if err != nil {
		return Law{}, err
	}
	q, err := percentile(high)
	if err != nil {
		return Law{}, err
	}
	if p >= q || at > upTo {
		return Law{}, errors.New("the second percentile must be the larger one, and not the shorter time")
	}
	from, to := math.Log(float64(at)), math.Log(float64(upTo))
	sigma := (to - from) / (quantile(q) - quantile(p))
	return Law{kind: lognormal, a: from - sigma*quantile(p), b: sigma}, nil
}

func percentile(word string) (float64, error) {
	rest, ok := strings.CutPrefix(word, "p")
	if p, err := number(rest, 0.001, 99.999); ok && err == nil {
		return p / 100, nil
	}
	return 0, fmt.Errorf("%.40q is not a percentile such as p99", word)
}

// readPairs reads weights with a duration each.
func readPairs(k kind) func(words []string) (Law, error) {
	return func(words []string) (Law, error) {
		if len(words) == 0 || len(words)%2 != 0 {
			return Law{}, errors.New("takes pairs of a weight and a duration")
		}
		l, sum := Law{kind: k}, 0.0
		for i := 0; i < len(words); i += 2 {
			weight, err := number(words[i], 0, 1e12)
			if err != nil {
				return Law{}, err
			}
			d, err := durations(words[i+1:i+2], 1)
			if err != nil {
				return Law{}, err
			}
			if k == histogram && len(l.times) > 0 && float64(d[0]) <= l.times[len(l.times)-1] {
				return Law{}, fmt.Errorf("%v does not lie above the bound before it", d[0])
			}
			if weight > 0 || k == histogram {
				sum += weight
				l.times, l.shares = append(l.times, float64(d[0])), append(l.shares, sum)
			}
		}
		return l, l.share(sum)
	}
}

// share makes shares of the sums of the weights.
func (l *Law) share(sum float64) error {
	if sum <= 0 {
		return errors.New("all weights are 0")
	}
	for i := range l.shares {
		l.shares[i] /= sum
	}
	l.shares[len(l.shares)-1] = 1
	return nil
}

func readCycle(words []string) (Law, error) {
	if len(words) == 0 {
		return Law{}, errors.New("takes durations")
	}
	d, err := durations(words, len(words))
	l := Law{kind: cycle}
	for _, d := range d {
		l.times = append(l.times, float64(d))
	}
	return l, err
}

func durations(words []string, n int) ([]time.Duration, error) {
	if len(words) != n {
		return nil, fmt.Errorf("takes %d, and %d words are there", n, len(words))
	}
	all := make([]time.Duration, n)
	for i, word := range words {
		d, err := span.Parse(word)
		if err == nil && d > longest {
			err = fmt.Errorf("%v is longer than a year", d)
		}
		if err != nil {
			return nil, err
		}
		all[i] = d
	}
	return all, nil
}

func number(word string, low, high float64) (float64, error) {
	x, err := strconv.ParseFloat(word, 64)
	if err != nil || !(x >= low && x <= high) {
		return 0, fmt.Errorf("%.40q is not a number from %v to %v", word, low, high)
	}
	return x, nil
}
