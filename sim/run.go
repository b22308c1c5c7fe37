package sim

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/sim/internal/world"
	"github.com/kalan-go/kalan/sim/random"
)

// Options are how a scenario is run, which is not part of it: they change no
// result.
type Options struct {
	// Parallel is how many replications are played at once. 0 means as many as
	// there are processors.
	Parallel int
	// Progress, when not nil, is told from time to time which share of the run is
	// done, from 0 to 1; how much a search is can only be guessed. It is called
	// by several goroutines, one at a time.
	Progress func(share float64)
	// Stop, when it is closed, ends the run: Run returns the arms that were
	// played to their end, and ErrStopped.
	Stop <-chan struct{}
	// Journals keeps every decision of every guard.
	Journals bool
}

// ErrStopped is the error of a run that was ended by Options.Stop.
var ErrStopped = errors.New("stopped before its end")

// A player plays replications and says how far it is.
type player struct {
	Options
	mu        sync.Mutex
	done, all float64 // replications, also parts of one
	events    atomic.Uint64
	most      uint64 // of events
}

// newPlayer returns what plays the arms and the searches.
func newPlayer(arms []*compiler, s *Scenario, o Options) *player {
	p := &player{Options: o, most: mostEvents}
	for _, c := range arms {
		p.all += float64(c.s.Replications)
	}
	for _, q := range s.Searches {
		p.all += s.trials(q)
	}
	return p
}

// tell adds a part of a replication to what is done.
func (p *player) tell(part float64) {
	if p.Progress == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done += part
	p.Progress(min(p.done/p.all, 1))
}

// outgrown reports whether all replications together, those of searches
// included, have taken more events than Validate lets a scenario need: a closed
// loop may be faster than can be foreseen.
func (p *player) outgrown() bool { return p.events.Load() > p.most }

func (p *player) stopped() bool {
	select {
	case <-p.Stop:
		return true
	default:
		return false
	}
}

// A played is one replication of one arm.
type played struct {
	arm         *compiler
	replication int
	tally       *world.Tally
	cpu         time.Duration
	err         error
}

// playAll plays every arm as often as it says, in parallel. Results stand in
// the order of the arms and replications, however they came about; what was not
// played because the run was stopped has no tally.
func (p *player) playAll(arms []*compiler) ([]played, error) {
	var jobs []played
	for _, c := range arms {
		for r := range c.s.Replications {
			jobs = append(jobs, played{arm: c, replication: r})
		}
	}
	var next atomic.Int64
	var wait sync.WaitGroup
	for range min(p.workers(arms), len(jobs)) {
		wait.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(jobs)); i = next.Add(1) - 1 {
				p.play(&jobs[i])
			}
		})
	}
	wait.Wait()
	if p.outgrown() {
		return nil, fmt.Errorf("more than %.3g events have been played, and that is the most; write a shorter duration, fewer replications or a lower rate", float64(p.most))
	}
	var stopped error
	for i := range jobs {
		switch err := jobs[i].err; {
		case errors.Is(err, ErrStopped):
			stopped = err
		case err != nil:
			return nil, fmt.Errorf("%s, replication %d: %w", jobs[i].arm.name, jobs[i].replication+1, err)
		}
	}
	return jobs, stopped
}

// workers returns how many replications are played at once.
func (p *player) workers(arms []*compiler) int {
	n := p.Parallel
	if n <= 0 {
		n = runtime.GOMAXPROCS(0)
	}
	for _, c := range arms {
		n = min(n, c.s.abreast())
	}
	return n
}

func (p *player) play(job *played) {
	if p.stopped() {
		job.err = ErrStopped
		return
	}
	m := *job.arm.m
	m.Journals = p.Journals
	told := 0.0
	m.Watch = func(now policy.Instant) bool {
		at := float64(now) / float64(m.End)
		p.tell(at - told)
		told = at
		p.events.Add(world.Watched)
		return !p.stopped() && !p.outgrown()
	}
	began := time.Now()
	job.tally, job.err = world.New(&m, random.Of(job.arm.s.Seed, uint64(job.replication))).Run()
	job.cpu = time.Since(began)
	switch {
	case job.err != nil:
	case job.tally == nil:
		job.err = ErrStopped
	default:
		p.tell(1 - told)
	}
}
