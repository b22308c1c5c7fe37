package overload

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/kalan-go/kalan/cmd/internal/openloop"
	"github.com/kalan-go/kalan/cmd/internal/overload/backend"
	"github.com/kalan-go/kalan/jitter"
)

// A Subject is a gateway before a backend.
type Subject struct {
	// URL is where it listens, Metrics where its own histograms are; "" if it
	// has none.
	URL, Metrics string
	// Backend is what stands behind it.
	Backend backend.Control
}

// A Run is what was seen in a case.
type Run struct {
	Stages []Seen
	// Direct and Through are the first stage once more, of which every other
	// request goes to the upstream itself: what the gateway adds, whatever the
	// machine does meanwhile.
	Direct, Through Seen
	// Own and Arrival are the gateway's own histograms: the time that it took
	// itself, and that of refusals on arrival.
	Own, Arrival Histogram
}

// A player puts one subject through a case.
type player struct {
	Case
	Subject
	client *http.Client
	now    backend.Setting
}

// Play puts a subject through the case.
func (c Case) Play(ctx context.Context, s Subject) (r *Run, err error) {
	p := &player{Case: c, Subject: s, client: newClient(), now: c.Setting}
	defer p.client.CloseIdleConnections()
	if err := s.Backend.Set(ctx, c.Setting); err != nil {
		return nil, err
	}
	r = &Run{}
	if c.Direct {
		if err := p.compare(ctx, r); err != nil {
			return nil, err
		}
	}
	stages, err := p.play(ctx, s.URL, c.Stages)
	if err != nil {
		return nil, err
	}
	for _, seen := range stages {
		r.Stages = append(r.Stages, *seen)
	}
	if s.Metrics != "" {
		err = r.readMetrics(ctx, s.Metrics)
	}
	return r, err
}

// play sends the loads of the stages to url. A stage that does not begin with
// a rest begins when the time of the one before is up, whatever is still under
// way.
func (p *player) play(ctx context.Context, url string, stages []Stage) (all []*Seen, err error) {
	var flying sync.WaitGroup
	defer flying.Wait()
	var before backend.Counts
	for i, stage := range stages {
		if stage.Rest {
			flying.Wait()
			if err := rest(ctx, p.Backend); err != nil {
				return nil, err
			}
			before = backend.Counts{}
		}
		if err := p.change(ctx, stage); err != nil {
			return nil, err
		}
		seen := newSeen(p.Case, stage, p.now)
		all = append(all, seen)
		flying.Go(func() { p.load(stage).Run(ctx, p.sender(p.client, url), seen.hear) })
		if err := jitter.Sleep(ctx, stage.For); err != nil {
			return nil, err
		}
		if i+1 == len(stages) || stages[i+1].Rest {
			flying.Wait()
		}
		after, err := p.Backend.Counts(ctx)
		if err != nil {
			return nil, err
		}
		seen.Served, seen.Wasted = after.Served-before.Served, after.Wasted-before.Wasted
		before = after
	}
	flying.Wait()
	for _, seen := range all {
		seen.finish()
	}
	return all, nil
}

// uneven is what the upstream is while the ways are compared. With an even
// number of workers and half of what they can serve, every request would come in
// the moment in which the one before it on the same way is answered, and meet it
// in the gateway.
var uneven = backend.Setting{Workers: 3, Service: 20 * time.Millisecond}

// compare plays the first stage both ways at once. What counts is the time on
// the way: without what the generator was late, and what the upstream says that
// it took itself.
func (p *player) compare(ctx context.Context, r *Run) error {
	if err := p.Backend.Set(ctx, uneven); err != nil {
		return err
	}
	if err := rest(ctx, p.Backend); err != nil {
		return err
	}
	before := p.Setting
	p.Setting, p.now = uneven, uneven
	defer func() { p.Setting, p.now = before, before }()
	stage := p.Stages[0]
	both := [2]*Seen{newSeen(p.Case, stage, p.now), newSeen(p.Case, stage, p.now)}
	ways := [2]string{p.Subject.Backend.Base, p.URL}
	var insides sync.Map // by the number of the shot
	p.load(stage).Run(ctx,
		func(ctx context.Context, shot openloop.Shot) openloop.Outcome {
			return p.send(ctx, shot, p.client, ways[shot.Number%2], func(answer http.Header) {
				insides.Store(shot.Number, backend.Inside(answer))
			})
		},
		func(result openloop.Result) {
			inside, _ := insides.Load(result.Shot.Number)
			took, _ := inside.(time.Duration)
			result.Took -= result.Lag + took
			both[result.Shot.Number%2].hear(result)
		})
	for _, seen := range both {
		seen.finish()
	}
	r.Direct, r.Through = *both[0], *both[1]
	return p.Backend.Set(ctx, before)
}

// change makes the backend what it is in the stage.
func (p *player) change(ctx context.Context, stage Stage) error {
	if stage.Setting == (backend.Setting{}) {
		return nil
	}
	p.now = stage.Setting
	return p.Backend.Set(ctx, p.now)
}

func (p *player) load(stage Stage) openloop.Load {
	return openloop.Load{
		Rate: stage.Load * p.Setting.Capacity(), For: stage.For, Retries: p.Retries, Pause: 25 * time.Millisecond,
		Seed: 1, Flying: 20_000, Mix: p.mix(),
	}
}

// settle is how long an upstream gets to become idle before a stage.
const settle = time.Second

// rest empties the backend and lets whatever stands before it see that.
func rest(ctx context.Context, b backend.Control) error {
	for range 2 {
		if err := b.Reset(ctx); err != nil {
			return err
		}
		if err := jitter.Sleep(ctx, settle/2); err != nil {
			return err
		}
	}
	return b.Reset(ctx)
}

func (c Case) mix() (mix []openloop.Kind) {
	for _, k := range c.Callers {
		mix = append(mix, openloop.Kind{Share: k.Share, Patience: k.Deadline})
	}
	return mix
}

func newClient() *http.Client {
	return &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 20_000, DisableCompression: true}}
}

// sender returns what sends one request to url.
func (c Case) sender(client *http.Client, url string) func(context.Context, openloop.Shot) openloop.Outcome {
	return func(ctx context.Context, shot openloop.Shot) openloop.Outcome {
		return c.send(ctx, shot, client, url, func(http.Header) {})
	}
}

// send sends one request to url, and lets hear see the answer's head. It leaves
// at its deadline, as callers do.
func (c Case) send(ctx context.Context, shot openloop.Shot, client *http.Client, url string, hear func(http.Header)) openloop.Outcome {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/", nil)
	if err != nil {
		return openloop.Failed
	}
	who := c.Callers[shot.Kind]
	r.Header.Set("X-Remaining-Ms", strconv.FormatInt(max(1, time.Until(shot.Deadline).Milliseconds()), 10))
	if who.Tenant != "" {
		r.Header.Set("X-Tenant", who.Tenant)
	}
	if who.Priority != "" {
		r.Header.Set("X-Priority", who.Priority)
	}
	a, err := client.Do(r)
	if err != nil {
		return lost(ctx)
	}
	defer a.Body.Close()
	hear(a.Header)
	if _, err := io.Copy(io.Discard, a.Body); err != nil {
		return lost(ctx)
	}
	switch a.StatusCode {
	case http.StatusOK:
		return openloop.InTime
	case http.StatusServiceUnavailable, http.StatusTooManyRequests, http.StatusGatewayTimeout:
		return openloop.Refused
	}
	return openloop.Failed
}

func lost(ctx context.Context) openloop.Outcome {
	if ctx.Err() != nil {
		return openloop.Late
	}
	return openloop.Failed
}
