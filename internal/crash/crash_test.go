package crash

import (
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
)

// outcome returns what done was told, and how often.
func outcome(fn func() (int, error)) (value, times int, err error) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		Call(fn, func(v int, e error) { value, err, times = v, e, times+1 })
	}()
	<-ended
	return value, times, err
}

func TestDoneHearsOfEveryEnd(t *testing.T) {
	for _, test := range []struct {
		name, want string
		fn         func() (int, error)
	}{
		{"value", "", func() (int, error) { return 7, nil }},
		{"error", "EOF", func() (int, error) { return 7, io.EOF }},
		{"panic", "panic: boom", func() (int, error) { panic("boom") }},
		{"panic with an error", "panic: EOF", func() (int, error) { panic(io.EOF) }},
		{"panic(nil)", "panic: panic called with nil argument", func() (int, error) { panic(nil) }},
		{"Goexit", "runtime.Goexit was called", func() (int, error) { runtime.Goexit(); return 7, nil }},
	} {
		_, times, err := outcome(test.fn)
		got := ""
		if err != nil {
			got = err.Error()
		}
		if times != 1 || !strings.HasPrefix(got, test.want) || (err == nil) != (test.want == "") {
			t.Errorf("%s: done was called %d times with %q, want once with %q", test.name, times, got, test.want)
		}
	}
}

func TestThePanicCanBeLookedInto(t *testing.T) {
	_, _, err := outcome(func() (int, error) { panic(io.EOF) })
	var crashed *Error
	if !errors.Is(err, io.EOF) || !errors.As(err, &crashed) {
		t.Fatalf("%v does not lead to its cause", err)
	}
	if stack := string(crashed.Stack); !strings.Contains(stack, "TestThePanicCanBeLookedInto") {
		t.Errorf("the stack does not show where it was:\n%s", stack)
	}
}
