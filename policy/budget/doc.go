// Package budget caps retries and hedges as a share of traffic, for callers
// that want help with single failures and no help in making an outage worse.
//
// A retry answers the question "was that bad luck?". While one call in a
// hundred fails, it nearly always was, and retrying costs one per cent. When
// every call fails, retrying doubles or triples the load of a dependency that
// already cannot carry the load it has. A backoff only moves those extra calls
// to later; a budget never makes them.
//
// Use one budget for each dependency, shared by everybody who calls it from
// this process. Do not use one as a rate limit: it limits no first attempt.
//
// # How it decides
//
// One more attempt is allowed while
//
//	retries of the window + older ones still running < ratio x calls of the window + floor
//
// and it is taken in the same step (F21; the lesson's B8 is the same rule with
// floor 0, counted over all calls: a Window below zero). Strictly fewer, so
// with a floor of 0 the very first failure may be retried: 0 < ratio x 1.
//
// The floor keeps a quiet caller able to retry: ten per cent of three calls is
// less than one. It exists only while at least half of the last ten attempts
// succeeded. Otherwise a fleet of quiet callers, each with a floor of its own,
// sends enough extra calls to keep a small dependency down for ever.
//
// # What a retry holds, and until when
//
// A retry counts from the moment it is decided, not from the moment it is sent:
// a thousand calls that fail together would otherwise all pass the budget
// during their backoff and arrive together (O-13). Decided and never launched,
// it is given back with Undo. Once launched it counts for the whole window, so
// that quick failures cannot be retried at the pace at which they fail, and
// beyond the window for as long as it runs, so that slow ones cannot pile up.
// Snapshot.Running is the number of extra attempts that are decided or running
// now. The original of a waiting retry is in the window's calls like any other.
//
// # The form that counts what is under way
//
// With Config.InFlight, one more attempt is allowed while
//
//	extra attempts under way < ratio x attempts under way + floor
//
// as in the budgets of proxies that know no window. An extra attempt is under way
// from its decision, through its backoff, to its end, and is on both sides: it
// stands for the call that it was decided for. This form says how many extra
// attempts there may be at once, for work of which a window sees too little; in an
// outage that fails quickly it allows more of them than the window does.
//
// # Limits
//
// The window is a ring of 32 slices and the one being filled; what leaves is
// between one window and 33/32 of it old. Memory is constant, every method is
// O(1) amortized and allocates nothing.
package budget
