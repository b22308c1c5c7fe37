package stack

import "github.com/kalan-go/kalan/policy"

// Excuse says that an attempt waits for its caller and not for the dependency:
// for the rest of a request that comes slowly, or for a reader who does not take
// the answer. From then on nothing that becomes of it says anything about the
// dependency, neither how it ends nor when: otherwise a few callers with slow
// lines, or one who pretends to have one, open the breaker of a dependency that
// answers everybody else at once. Its slot stays taken, since the dependency
// still works on it, and its call ends when it would have. A probe's place comes
// back.
func (s *Stack) Excuse(now policy.Instant, t Ticket) {
	s.advance(now)
	if sl := s.at(t); sl != nil && (sl.state == running || sl.state == kept) {
		sl.excused = true
		s.hear(sl, policy.Cut)
	}
	s.dispatch()
}
