package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/kalan-go/kalan/jitter"
	"github.com/kalan-go/kalan/policy/breaker"
	"github.com/kalan-go/kalan/policy/stack"
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
			if shot := seen[name]; shot.Breaker.State == breaker.Open {
				a.sawOpen(i, time.Now().Add(-shot.At.Sub(shot.Breaker.Since)))
			}
		}
		jitter.Sleep(ctx, glance)
	}
	return nil
}

// status returns what the gateway knows of each upstream.
func (s *stage) status(ctx context.Context, client *http.Client) (map[string]stack.Snapshot, error) {
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
	var status struct{ Upstreams map[string]stack.Snapshot }
	if err := json.NewDecoder(answer.Body).Decode(&status); err != nil {
		return nil, fmt.Errorf("read /status: %w", err)
	}
	return status.Upstreams, nil
}
