package kalan

import (
	"context"
	"time"
)

// How often a watch looks: seldom while little happens, and the more often the
// fuller it finds the rings. Never so often that looking itself is work, or
// that an observer which writes a line for each look floods a log.
const (
	watchSeldom = 250 * time.Millisecond
	watchOften  = 20 * time.Millisecond
)

// WatchAll is [Watch] for guards that come and go, such as those of a keyed
// set: guards is asked at every look.
func WatchAll(ctx context.Context, o Observer, guards func() []*Guard) {
	var l look
	every := watchOften
	timer := time.NewTimer(every)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			l.pull(o, guards())
			return
		case <-timer.C:
		}
		switch full := l.pull(o, guards()); {
		case full > 1./2:
			every = max(every/2, watchOften)
		case full < 1./8:
			every = min(every+every/2, watchSeldom)
		}
		timer.Reset(every)
	}
}
