// Package crash runs functions of strangers on goroutines of ours: what ends
// them early, a panic or runtime.Goexit, becomes an error, so that whoever
// waits for the function hears of it and no slot is lost.
package crash

import (
	"fmt"
	"runtime/debug"
)

// An Error says that a function did not return.
type Error struct {
	// Value is what the function panicked with; nil after runtime.Goexit.
	Value any
	// Stack is the goroutine's stack at the panic; nil after runtime.Goexit.
	Stack []byte
}

// Error names the panic. The stack is not in it: it belongs in a log.
func (e *Error) Error() string {
	if e.Value == nil {
		return "runtime.Goexit was called"
	}
	return fmt.Sprintf("panic: %v", e.Value)
}

// Unwrap returns the panic's value where that is an error.
func (e *Error) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// Call runs fn and then done, exactly once and whatever fn does: with what fn
// returned, or with an *Error. After runtime.Goexit the goroutine ends when
// done has run.
func Call[T any](fn func() (T, error), done func(T, error)) {
	var value T
	var err error
	returned := false
	defer func() {
		if !returned {
			err = ended(recover())
		}
		done(value, err)
	}()
	value, err = fn()
	returned = true
}

// ended says why a function did not return, from what recover has said. A
// panic(nil) is told apart: it has a value since Go 1.21.
func ended(value any) *Error {
	if value == nil {
		return &Error{}
	}
	return &Error{value, debug.Stack()}
}
