package room

import "github.com/kalan-go/kalan/policy"

// none is the id of nobody.
const none int32 = -1

// A waiter is one call in the room. It is linked to its neighbours by their
// ids: whoever leaves unlinks itself without a search.
type waiter struct {
	item  Item
	since policy.Instant
	links [2]link
	flow  int32
	waits bool
}

type link struct{ prev, next int32 }

// The two lists that a waiter is in.
const (
	byAge  = 0 // all that wait
	inFlow = 1 // those of its flow
)

// A list is a queue of waiters, oldest at the head.
type list struct{ head, tail int32 }

var empty = list{none, none}

// push appends id behind the tail.
func (l *list) push(all []waiter, id int32, which int) {
	all[id].links[which] = link{l.tail, none}
	if l.tail < 0 {
		l.head = id
	} else {
		all[l.tail].links[which].next = id
	}
	l.tail = id
}

// unlink takes id out, wherever it is.
func (l *list) unlink(all []waiter, id int32, which int) {
	at := all[id].links[which]
	if at.prev < 0 {
		l.head = at.next
	} else {
		all[at.prev].links[which].next = at.next
	}
	if at.next < 0 {
		l.tail = at.prev
	} else {
		all[at.next].links[which].prev = at.prev
	}
}
