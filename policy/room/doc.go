// Package room is the bounded waiting room before a limit: calls wait in it
// for a slot, for a time that each of them can afford, and are refused at once
// when there is no place or no hope. One implementation serves a gateway's
// queue and a bulkhead's short wait.
//
// Every queue that can grow without a bound becomes the outage: its oldest
// entries expire before they are served, and the work done for them is lost.
// So the room has a number of places (F11), every waiter has an end, and
// nothing is granted at or after it (O-02). What decides, in this order:
//
//   - Feasibility. A call whose remaining time is shorter than the work is
//     expected to need is refused when it is offered, and taken out as soon as
//     that becomes true of it while it waits (F13, O-19). Dropping only what is
//     already dead leaves a queue that serves what is about to die: 3 % of
//     capacity at twice the load.
//   - Shedding. While the oldest waiter has used more than three quarters of
//     what it could wait, for a whole window, what would burden the room is
//     refused when it is offered, except critical work (F12). What it could wait
//     is the least of the checkout, its time left when it came minus the need,
//     and the places divided by the rate at which waiters are served. A short
//     burst sheds nothing, and an empty room is never too slow.
//   - Importance. Lower levels wait for higher ones; when there is no place, a
//     higher level takes one from the lowest. A guarantee can reserve a share
//     of the grants for each lower level that has somebody waiting; what it
//     does not use is lent to the others.
//   - Fairness. Within a level flows take turns, as many grants a turn as their
//     weight says: deficit round robin (Shreedhar and Varghese 1995). When
//     there is no place, the flow with the most waiters for its weight loses
//     one first (F14, O-23). Only flows with waiters are kept, so that there are
//     never more of them than places.
//   - Age. Within a flow the oldest is first (O-22). When a waiter's end came
//     before a slot did, the room is in overload, until for a whole window there
//     was none such and the oldest had used less than three eighths of what it
//     could wait. In overload the newest is first: the oldest will expire
//     whatever is done, and it is the newest that can still be answered (F13).
//     New flows then go to the front of the round too, since with a flow for
//     each caller the round is the queue.
//
// The room owns no timer. A waiter whose End passes is told to Leave by its
// owner, or is taken out by the next call of Next, whichever comes first.
// Every verb takes constant time and allocates nothing: waiters are linked
// through an array indexed by their id, flows through a table of their own.
package room
