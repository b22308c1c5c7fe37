package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/kalan-go/kalan/jitter"
	"github.com/kalan-go/kalan/policy/breaker"
)

// glance is how often the gateway is asked how its breakers are.
const glance = 20 * time.Millisecond

// watch notes when breakers open, until ctx ends.
func (s *stage) watch(ctx context.Context, a *account) error {
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	for ctx.Err() == nil {
		seen, err := s.status(ctx, client)
		if ctx.Err() != nil {
			break
		}
		if err != nil {
			return fmt.Errorf("ask the gateway how it is: %w", err)
		}
		for i, name := range a.bridges {
			if b := seen[name].Breaker; b.State == breaker.Open.String() {
				since, err := time.ParseDuration(b.For)
				if err != nil {
					return fmt.Errorf("read /status: %w", err)
				}
				a.sawOpen(i, time.Now().Add(-since))
			}
		}
		jitter.Sleep(ctx, glance)
	}
	return nil
}

// An upstream is what the gateway says of one, as far as the story needs it.
type upstream struct {
	Breaker struct{ State, For string }
}

// status returns what the gateway says of each upstream.
func (s *stage) status(ctx context.Context, client *http.Client) (map[string]upstream, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.admin+"/status", nil)
	if err != nil {
		return nil, err
	}
	answer, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	var status struct{ Upstreams map[string]upstream }
	if err := json.NewDecoder(answer.Body).Decode(&status); err != nil {
		return nil, fmt.Errorf("read /status: %w", err)
	}
	return status.Upstreams, nil
}
