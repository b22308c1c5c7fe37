package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/kalan-go/kalan/cmd/internal/openloop"
	"github.com/kalan-go/kalan/jitter"
	"github.com/kalan-go/kalan/policy/span"
)

// A pace is how fast the story is told.
type pace struct {
	healthy, hanging time.Duration
}

var (
	unhurried = pace{healthy: 5 * time.Second, hanging: 12 * time.Second}
	hurried   = pace{healthy: 2 * time.Second, hanging: 8 * time.Second}
)

const (
	// rate is how many callers arrive a second, at all bridges together.
	rate = 200
	// settled is how many seconds after it began a second can be reported: the
	// last of its callers has left by then.
	settled = 2
)

// patience is how long a caller waits for its answer (F9: a client that gives
// up at one second).
var patience = span.Range{Min: 800 * time.Millisecond, Max: time.Second}

// A Config is one file of examples/trading.
type Config struct {
	Name string
	Text []byte
}

// Tell tells the story twice, writes it to w, and fails with the claims that
// did not hold.
func Tell(ctx context.Context, w io.Writer, bare, kalan Config, quick bool) error {
	p := unhurried
	if quick {
		p = hurried
	}
	var claims []claim
	var lag time.Duration
	for _, telling := range []struct {
		title  string
		config Config
		claims func(*account) []claim
	}{
		{"Without defences", bare, without},
		{"With them", kalan, with},
	} {
		fmt.Fprintf(w, "\n%s (%s)\n\n", telling.title, telling.config.Name)
		a, err := tell(ctx, w, telling.config.Text, p)
		if err != nil {
			return fmt.Errorf("%s: %w", telling.config.Name, err)
		}
		fmt.Fprintln(w)
		table(w, a)
		claims = append(claims, telling.claims(a)...)
		lag = max(lag, a.lag())
	}
	fmt.Fprint(w, "\nWhat is claimed, and what was seen\n\n")
	return judge(verdict(w, claims), lag)
}

// judge makes one error of the claims that did not hold.
func judge(broken []claim, lag time.Duration) error {
	var err error
	for _, c := range broken {
		err = errors.Join(err, errors.New("did not hold: "+c.text))
	}
	if err != nil && lag > tooBusy {
		err = errors.Join(err, fmt.Errorf("something else keeps this machine busy: requests were sent up to %v late; try again when it is quieter", brief(lag)))
	}
	return err
}

// tell runs the story once.
func tell(ctx context.Context, w io.Writer, config []byte, p pace) (*account, error) {
	s, err := buildSomewhere(ctx, config)
	if err != nil {
		return nil, err
	}
	defer s.stop()

	a := newAccount(s.layout.bridges)
	a.hangs, a.length = p.healthy, p.healthy+p.hanging
	return a, play(ctx, w, s, a)
}

// buildSomewhere is build on free ports. A free port can be taken by somebody
// else before the gateway listens on it, so there are three tries.
func buildSomewhere(ctx context.Context, config []byte) (*stage, error) {
	for try := 1; ; try++ {
		free, err := freeAddresses(2)
		if err != nil {
			return nil, err
		}
		s, err := build(ctx, config, free[0], free[1])
		if err == nil || try == 3 || !strings.Contains(err.Error(), "address already in use") {
			return s, err
		}
	}
}

// play sends the callers, has the first bridge hang when its time has come, and
// notes what happens.
func play(ctx context.Context, w io.Writer, s *stage, a *account) error {
	var callers, watchers sync.WaitGroup
	var hangErr, watchErr error
	watched, done := context.WithCancel(ctx)
	defer done()

	heading(w, a)
	a.start = time.Now()
	s.call(ctx, a, &callers)
	watchers.Go(func() {
		jitter.Sleep(watched, a.hangs)
		hangErr = s.hang(watched)
	})
	watchers.Go(func() { watchErr = s.watch(watched, a) })
	watchers.Go(func() { narrate(watched, w, a) })
	callers.Wait()
	watchers.Go(func() { jitter.Sleep(watched, settled*time.Second); done() })
	watchers.Wait()
	return errors.Join(ctx.Err(), hangErr, watchErr, s.alive())
}

// call starts the callers of every bridge.
func (s *stage) call(ctx context.Context, a *account, callers *sync.WaitGroup) {
	client := newClient()
	for i, name := range s.layout.bridges {
		c := caller{client: client, base: "http://" + s.listen, header: s.layout.Deadline.Header, asks: s.layout.asks(name), name: name}
		load := openloop.Load{
			Rate: rate / float64(len(s.layout.bridges)), For: a.length,
			Patience: patience, Poisson: true, Seed: uint64(i + 1),
		}
		callers.Go(func() { load.Run(ctx, c.send, func(r openloop.Result) { a.hear(i, r) }) })
	}
}

// narrate writes a line for each second, as soon as its callers are settled.
func narrate(ctx context.Context, w io.Writer, a *account) {
	for n := range int(a.length / time.Second) {
		jitter.Sleep(ctx, time.Until(a.start.Add(seconds(n+settled))))
		if ctx.Err() != nil {
			return
		}
		progress(w, a, n)
	}
}
