// Package replay gives the body of one HTTP request to several attempts, for the
// gateway and for kalanhttp.
//
// An HTTP transport closes the body that it was given, also when it never read
// from it: on a refused connection the next attempt would find a closed one
// (O-16). And its goroutine may still be reading when the attempt is long
// over. Here each attempt reads through a Reader of its own: closing one closes
// nothing, and one whose attempt is over reads nothing any more. What it had
// been waiting for is kept for its successor.
//
// # What is kept
//
// A small body of known length is read before the first attempt (Load), so
// that a slow sender holds no slot and the exchange does not need its client.
// Every other body streams, and what has gone by is kept up to the cap. A body
// that has outgrown it cannot be repeated, and is no longer kept.
//
// The real body is closed once, by its owner.
package replay
