package overload

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strconv"
)

// A Histogram is one of a gateway's own, as Prometheus reads it: the buckets in
// the order of their bounds, in seconds, each with all that did not exceed it.
type Histogram []Bucket

// A Bucket is how many did not exceed the bound.
type Bucket struct {
	Bound float64
	Count uint64
}

// Quantile returns what the share q did not exceed: the bound of a bucket, so
// that nothing is taken for better than it was. known is false when nothing was
// counted.
func (h Histogram) Quantile(q float64) (seconds float64, known bool) {
	if len(h) == 0 || h[len(h)-1].Count == 0 {
		return 0, false
	}
	rank := q * float64(h[len(h)-1].Count)
	for _, b := range h {
		if float64(b.Count) >= rank {
			return b.Bound, true
		}
	}
	return math.Inf(1), true
}

// Of the metrics, the two histograms that a case is judged by.
var (
	ownBucket     = regexp.MustCompile(`^kalan_own_duration_seconds_bucket\{upstream="[^"]*",le="([^"]+)"\} (\d+)`)
	arrivalBucket = regexp.MustCompile(`^kalan_refusal_duration_seconds_bucket\{upstream="[^"]*",when="arrival",le="([^"]+)"\} (\d+)`)
)

// readMetrics reads the gateway's own histograms.
func (r *Run) readMetrics(ctx context.Context, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	client := newClient()
	defer client.CloseIdleConnections()
	a, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("the gateway's metrics: %w", err)
	}
	defer a.Body.Close()
	for lines := bufio.NewScanner(a.Body); lines.Scan(); {
		r.Own = r.Own.read(ownBucket, lines.Text())
		r.Arrival = r.Arrival.read(arrivalBucket, lines.Text())
	}
	return nil
}

// read adds a line's bucket, if it is one: those of all upstreams together.
func (h Histogram) read(form *regexp.Regexp, line string) Histogram {
	m := form.FindStringSubmatch(line)
	if m == nil {
		return h
	}
	bound, err1 := strconv.ParseFloat(m[1], 64)
	count, err2 := strconv.ParseUint(m[2], 10, 64)
	if err1 != nil || err2 != nil {
		return h
	}
	at, there := slices.BinarySearchFunc(h, bound, func(b Bucket, bound float64) int { return cmp.Compare(b.Bound, bound) })
	if !there {
		h = slices.Insert(h, at, Bucket{Bound: bound})
	}
	h[at].Count += count
	return h
}
