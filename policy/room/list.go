package room

import "github.com/kalan-go/kalan/policy"

// A waiter is one call in the room, linked to its neighbours by their ids:
// whoever leaves unlinks itself without a search, and nothing is allocated.
type waiter struct {
	item       Item
	since      policy.Instant
	prev, next int32
	waits      bool
}

// A list is a queue of waiters, oldest at the head.
type list struct{ head, tail int32 }

var empty = list{-1, -1}

// push appends id behind the tail.
func (l *list) push(all []waiter, id int32) {
	all[id].prev, all[id].next = l.tail, -1
	if l.tail < 0 {
		l.head = id
	} else {
		all[l.tail].next = id
	}
	l.tail = id
}

// unlink takes id out, wherever it is.
func (l *list) unlink(all []waiter, id int32) {
	prev, next := all[id].prev, all[id].next
	if prev < 0 {
		l.head = next
	} else {
		all[prev].next = next
	}
	if next < 0 {
		l.tail = prev
	} else {
		all[next].prev = prev
	}
}
