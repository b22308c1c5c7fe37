package gateway

import (
	"sync/atomic"
	"time"

	"github.com/kalan-go/kalan/policy"
)

// Workers cap how many requests are served at once, over all upstreams: the
// thread pool of a classic server, with the accept queue before it. A request
// that finds them all busy waits in the order of arrival until its time is up;
// one that finds the queue full is refused (F11).
//
// A worker is busy until the upstream has really finished, also when the caller
// has left: that is what makes a pool that all upstreams share run dry when one
// of them hangs (F28). The guards' own limits prevent it; this cap is there for
// what it costs to serve at all.
type workers struct {
	busy    chan struct{} // nil: no cap. Go queues those who send in order.
	waiting atomic.Int64
}

// mostWaiting is the length of the queue (F11).
const mostWaiting = 1000

func (w *workers) cap(n int) {
	if n > 0 {
		w.busy = make(chan struct{}, n)
	}
}

// take takes a worker, waiting until the deadline (zero: without end) or until
// gone is closed.
func (w *workers) take(deadline time.Time, gone <-chan struct{}) policy.Reason {
	if w.busy == nil {
		return policy.None
	}
	select {
	case w.busy <- struct{}{}:
		return policy.None
	default:
	}
	defer w.waiting.Add(-1)
	if w.waiting.Add(1) > mostWaiting {
		return policy.Full
	}
	return w.wait(deadline, gone)
}

func (w *workers) wait(deadline time.Time, gone <-chan struct{}) policy.Reason {
	var expired <-chan time.Time
	if !deadline.IsZero() {
		timer := time.NewTimer(time.Until(deadline))
		defer timer.Stop()
		expired = timer.C
	}
	select {
	case w.busy <- struct{}{}:
		return policy.None
	case <-expired:
		return policy.Expired
	case <-gone:
		return policy.Gone
	}
}

func (w *workers) give() {
	if w.busy != nil {
		<-w.busy
	}
}
