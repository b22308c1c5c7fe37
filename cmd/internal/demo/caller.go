package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/kalan-go/kalan/cmd/internal/openloop"
)

// A caller is everybody who asks one bridge for something, through the gateway.
type caller struct {
	client *http.Client
	base   string // of the gateway
	header string // that carries the remaining time
	asks   [][2]string
	name   string
}

// newClient returns a client with room for every caller that may be waiting at
// once: what is measured must not wait in the client.
func newClient() *http.Client {
	return &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1000, DisableCompression: true}}
}

// send is one request of the open loop.
func (c *caller) send(ctx context.Context, shot openloop.Shot) openloop.Outcome {
	request, err := c.request(ctx, shot)
	if err != nil {
		return openloop.Failed
	}
	answer, err := c.client.Do(request)
	if err != nil {
		return missed(err)
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, answer.Body); err != nil {
		return missed(err)
	}
	switch answer.StatusCode {
	case http.StatusOK:
		return openloop.InTime
	case http.StatusServiceUnavailable, http.StatusTooManyRequests:
		return turnedAway(time.Since(shot.At))
	}
	return openloop.Failed
}

// turnedAway says what an answer of 503 means to a caller who got it after that
// time. One that comes late followed an attempt that failed: it has cost the
// caller what a refusal saves.
func turnedAway(after time.Duration) openloop.Outcome {
	if after > patience.Min/2 {
		return openloop.Failed
	}
	return openloop.Refused
}

func (c *caller) request(ctx context.Context, shot openloop.Shot) (*http.Request, error) {
	method, path := c.asks[shot.Number%len(c.asks)][0], c.asks[shot.Number%len(c.asks)][1]
	var body io.Reader
	if method == http.MethodPost {
		body = strings.NewReader(`{"side":"buy","quantity":100}`)
	}
	request, err := http.NewRequestWithContext(ctx, method, c.base+path+"/"+strconv.Itoa(shot.Number), body)
	if err != nil {
		return nil, err
	}
	request.Header.Set(c.header, strconv.FormatInt(max(1, time.Until(shot.Deadline).Milliseconds()), 10))
	request.Header.Set("Idempotency-Key", fmt.Sprintf("%s-%d", c.name, shot.Number))
	return request, nil
}

// missed says what an error means to the caller who got it.
func missed(err error) openloop.Outcome {
	if errors.Is(err, context.DeadlineExceeded) {
		return openloop.Late
	}
	return openloop.Failed
}
