// Package travel is what travels with an HTTP call besides the call itself: the
// time that remains, the attempt's number, and who repeats; and which requests
// may be repeated at all. The gateway and kalanhttp read and write it alike.
package travel

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/kalan-go/kalan/policy/deadline"
)

// The headers, in canonical form.
const (
	// Remaining is the time that remains, in whole milliseconds.
	Remaining = "X-Remaining-Ms"
	// Expected is the same as Envoy writes it.
	Expected = "X-Envoy-Expected-Rq-Timeout-Ms"
	// Attempt numbers the attempts of a call, from 1.
	Attempt = "X-Envoy-Attempt-Count"
	// RetryOwner names the layer that repeats a call, so that those below it
	// pass errors up.
	RetryOwner = "X-Retry-Owner"
)

// ErrTooLate says that what remains of the time is less than can be written.
var ErrTooLate = errors.New("what remains of the time is too short for another attempt")

// Longest is a deadline that no connection lives to see, and that no clock
// overflows at.
const Longest = 100 * 365 * 24 * time.Hour

// ReadRemaining returns the time that a request came with, in the header of
// that name or in Envoy's; deadline.None if in neither. What is malformed, or
// there twice, is an error, never no limit.
func ReadRemaining(h http.Header, name string) (time.Duration, error) {
	remaining := deadline.None
	for _, name := range [...]string{name, Expected} {
		switch lines := h[name]; len(lines) {
		case 0:
		case 1:
			inbound, err := deadline.ParseMs(lines[0])
			if err != nil {
				return 0, fmt.Errorf("%s: %w", name, err)
			}
			remaining = min(remaining, inbound)
		default:
			return 0, fmt.Errorf("%s is there more than once; send it once", name)
		}
	}
	return remaining, nil
}

// WriteRemaining writes the time that an attempt may take, in the header of
// that name, and in Envoy's where the request came with it.
func WriteRemaining(h http.Header, name string, remaining time.Duration) error {
	switch {
	case remaining < time.Millisecond:
		return ErrTooLate
	case remaining == deadline.None:
		return nil
	}
	left := []string{string(deadline.AppendMs(nil, remaining))}
	h[name] = left
	if _, used := h[Expected]; used {
		h[Expected] = left
	}
	return nil
}

// WriteAttempt writes the attempt's number.
func WriteAttempt(h http.Header, n int) { h[Attempt] = []string{strconv.Itoa(n)} }

// Safe reports whether a method changes nothing (RFC 9110, 9.2.1).
func Safe(method string) bool {
	switch method {
	case "", http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace:
		return true
	}
	return false
}

// Idempotent reports whether doing it twice is doing it once (RFC 9110, 9.2.2).
func Idempotent(method string) bool {
	return Safe(method) || method == http.MethodPut || method == http.MethodDelete
}

// Keyed reports whether a request carries a key by which its receiver knows a
// repetition.
func Keyed(h http.Header) bool {
	key := h["Idempotency-Key"]
	return len(key) == 1 && key[0] != ""
}

// HideKeys keeps http.Transport from repeating by itself what has such a key,
// counted by nobody: it does not know the header in lower case.
func HideKeys(h http.Header) {
	for _, name := range keys {
		if key, ok := h[name.known]; ok {
			delete(h, name.known)
			h[name.hidden] = key
		}
	}
}

var keys = [...]struct{ known, hidden string }{
	{"Idempotency-Key", "idempotency-key"}, {"X-Idempotency-Key", "x-idempotency-key"},
}
