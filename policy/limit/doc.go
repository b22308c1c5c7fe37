// Package limit says how many calls to one dependency may run at once, for
// whoever guards a dependency that gets slower, not faster, when it is given
// more than it can do.
//
// A Limit counts slots. A call takes one before it starts and gives it back
// when the dependency has really finished with it, whoever has stopped waiting
// for the answer: a slot that is freed while the work goes on lets the
// dependency drown in work that nobody wants. The limit does not queue and
// does not refuse: where a call may wait for a slot is the business of package
// room, and the caller asks Free, and decides.
//
// A fixed number is right where the dependency states how many it serves, such
// as a database with a fixed pool; elsewhere it is a guess that holds as long
// as nothing changes (F15: 25). The adaptive limit, which is the default,
// needs no number (F17).
//
// # How the adaptive limit decides
//
// By Little's law, the number of calls that keep a dependency busy is the rate
// at which it finishes them under full load, times how long one takes that
// waits for no other: its base latency. The limit is twice that number: less
// than once leaves the dependency idle, and more only adds latency, which
// costs nothing as long as every caller can still wait for it.
//
//   - Starting: ten slots, as TCP's first window, and one more for each answer
//     in time while the latency stays near that of the first calls.
//   - A low phase, when the latency has grown, and later whenever the rate or
//     the latency say that something has changed: the limit goes to three
//     quarters of what is useful and, while its calls still wait for one
//     another, lower. Its latency is the new base latency.
//   - A high phase, seldom, and twice as seldom each time it was in vain: up to
//     half as many slots again. If they do more work, the base latency was found
//     too short, or there is no knee and more is of use.
//   - A wild dependency, whose times differ more than those of an exponential
//     law even under load: no phases, and ten slots or more as long as hardly
//     any answer is too late. Where some calls hang and the others are quick, as
//     many more as those hold.
//   - Deadlines: answers too late bring the limit down; so does a dependency
//     that refuses calls itself (503, 429), for a while, unless it answers others
//     that began with as many in flight: then it is not the number.
//
// A timeout is a loss and never a new normal. Nothing is learned from an idle
// dependency but its base latency, so that a quiet night changes no limit.
// Every mean is compared with its standard error before it is believed, so
// that one lucky answer moves nothing.
//
// Predict says how long a call will take. Refusing what cannot be finished in
// its remaining time matters more than the number itself: with it, every limit
// from once to four times what is useful serves all that can be served.
//
// What it cannot do: see more than one kind of work (a mean over fast and slow
// routes is right only for their present mixture), or know of other gateways
// before the same dependency. Where latency grows steadily with concurrency,
// without a knee, it finds an eighth less than what is possible. A tenth of
// calls forty times as long as the others costs it the first second. The file
// docs/limits.md has the figures, beside those of the three below.
//
// AIMD, Vegas and Gradient2 are there for comparison and for whoever knows
// them.
package limit
