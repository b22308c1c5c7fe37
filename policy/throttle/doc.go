// Package throttle refuses a share of the calls in the caller's own process
// while the dependency refuses a share of them itself, for callers of one that
// turns work away faster than it does it.
//
// A refusal is work, too: the request is read, its sender is checked, an answer
// is written. Where refusing costs a tenth of serving, a dependency that is
// offered ten times what it can do does nothing but refuse. What its callers
// refuse at home costs it nothing.
//
// This is not the first thing to reach for. Where the dependency becomes slower
// as it fills up, package limit finds out what it can carry, and sends no more.
// Where it is down or hangs, package breaker stops asking. A throttle is for what
// both misread: answers that are quick, and of which a part is no. A quota that
// many callers share, a service that sheds load early. A limit counts calls at the
// same time, and quick refusals are hardly ever at the same time; a breaker opens
// at a rate of failures, refuses what would have been served, closes on a few good
// probes and opens again. Where the quota is known and one caller's own, a rate
// (package bucket) keeps it without asking.
//
// # How it decides
//
// Counted over the window are the requests, those that were refused here
// included, and those of them that the dependency accepted. A request is
// refused with the probability
//
//	max(0, (requests - floor - K x accepts) / (requests + 1))
//
// so that in the long run K requests are sent for each that is accepted, and a
// floor beside them. Nothing is refused while at least one in K is accepted.
// What is sent beyond what is accepted is how the caller learns that there is
// more room. Who is refused is drawn by lot, from the request's own seed:
// counting would always refuse the same one of two callers who take turns.
//
// A success or an answer that says nothing about the dependency (a business
// error) was accepted. A failure was not, and neither was an answer that says
// that there was no room, whatever else it says. A call that its caller cut is no
// news and is not counted at all.
//
// A call counts when its end is known. Counted at its beginning, the calls under
// way would look like refusals, and a caller that starts with a burst would refuse
// its own first calls before the first of them is answered.
//
// Levels of importance are counted apart: a dependency that serves what is
// critical and refuses what is not is asked on in the same way.
//
// # It always finds the way back
//
// However long nothing is accepted, the probability stays below one, and a
// floor and one request go out in each window on the average, whatever the
// load. The first of them that is accepted lets K more through, and so on: with
// K = 2 about five times as many are sent in each window as in the one before.
// From nothing accepted to everything sent, a caller of 200 requests a second
// needs half a minute with the default window, and nine and a half minutes with
// the two minutes of the book, which is why the default is shorter. That slope
// is a warm-up, too. Whoever knows of the recovery from elsewhere says so with
// Forget, as policy/stack does when the breaker outside has closed. When
// nothing was counted for a window everything is forgotten, too.
//
// # Source
//
// Beyer, Jones, Petoff, Murphy (eds.), Site Reliability Engineering, O'Reilly 2016,
// chapter 21, "Handling Overload": client-side throttling, K, and statistics for
// each criticality. The floor is not in the book. It stands for its two minutes
// of a large caller's traffic: three requests of a small one prove nothing.
//
// # Limits
//
// It sees refusals, not slowness: a dependency that hangs is seen only when the
// calls time out. Every caller decides for itself, with a floor of its own. What
// leaves the window is between 15/16 of a window and one window old. Memory is
// constant, every method is O(1) amortized and allocates nothing. Nothing here is
// safe for concurrent use: the owner, usually policy/stack, serialises.
package throttle
