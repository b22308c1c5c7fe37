package kalan

import "context"

// Excuse says that the attempt waits for its caller and not for the dependency:
// for a reader who does not take the answer as it comes. The end of the attempt,
// whatever it is, then says nothing about the dependency, and neither does how
// long it takes. The slot stays taken until [Held.Release].
func (h Held) Excuse() {
	if h.guard == nil {
		return
	}
	now := h.guard.now()
	h.guard.mu.Lock()
	h.guard.stack.Excuse(now, h.ticket)
	h.guard.unlock()
}

type heldKey struct{}

// Excuse is [Held.Excuse] for the attempt that a function was given ctx for,
// while it runs: it waits for the rest of what its caller has to say. It does
// nothing outside of an attempt that Hold runs with Way.Leave.
func Excuse(ctx context.Context) {
	if h, ok := ctx.Value(heldKey{}).(Held); ok {
		h.Excuse()
	}
}
