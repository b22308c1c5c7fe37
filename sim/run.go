package sim

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kalan-go/kalan/sim/internal/world"
	"github.com/kalan-go/kalan/sim/random"
)

// Options are how a scenario is run, which is not part of it: they change no
// result.
type Options struct {
	// Parallel is how many replications are played at once. 0 means as many as
	// there are processors.
	Parallel int
	// Progress, when not nil, is told how many of all replications are done. It
	// is called by several goroutines, one at a time.
	Progress func(done, all int)
	// Journals keeps every decision of every guard.
	Journals bool
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
// the order of the arms and replications, however they came about.
func playAll(arms []*compiler, o Options) ([]played, error) {
	var jobs []played
	for _, c := range arms {
		for r := range c.s.Replications {
			jobs = append(jobs, played{arm: c, replication: r})
		}
	}
	parallel := o.Parallel
	if parallel <= 0 {
		parallel = runtime.GOMAXPROCS(0)
	}
	var next atomic.Int64
	var done int
	var mu sync.Mutex
	var wait sync.WaitGroup
	for range min(parallel, len(jobs)) {
		wait.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(jobs)); i = next.Add(1) - 1 {
				jobs[i].play(o)
				mu.Lock()
				done++
				if o.Progress != nil {
					o.Progress(done, len(jobs))
				}
				mu.Unlock()
			}
		})
	}
	wait.Wait()
	for i := range jobs {
		if err := jobs[i].err; err != nil {
			return nil, fmt.Errorf("%s, replication %d: %w", jobs[i].arm.name, jobs[i].replication+1, err)
		}
	}
	return jobs, nil
}

func (p *played) play(o Options) {
	m := *p.arm.m
	m.Journals = o.Journals
	began := time.Now()
	p.tally, p.err = world.New(&m, random.Of(p.arm.s.Seed, uint64(p.replication))).Run()
	p.cpu = time.Since(began)
}
