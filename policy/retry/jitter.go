package retry

import (
	"fmt"
	"strings"
)

// A Jitter says how scheduled waits are spread over callers.
type Jitter uint8

const (
	// Full waits anything from nothing to the scheduled wait.
	Full Jitter = iota
	// Equal waits half of the scheduled wait and anything up to the other half.
	Equal
	// Decorrelated waits anything from Base to three times the wait before,
	// at most Cap. It does not use Factor.
	Decorrelated
	// Constant waits exactly as scheduled: no jitter.
	Constant
	// AtOnce does not wait.
	AtOnce

	jitters
)

var jitterText = [jitters]string{"full", "equal", "decorrelated", "constant", "at_once"}

var jitterNames = strings.Join(jitterText[:], ", ")

// String returns the jitter's name as the configuration writes it.
func (j Jitter) String() string {
	if j < jitters {
		return jitterText[j]
	}
	return fmt.Sprintf("jitter(%d)", uint8(j))
}

// MarshalText writes the jitter as UnmarshalText reads it.
func (j Jitter) MarshalText() ([]byte, error) {
	if j >= jitters {
		return nil, fmt.Errorf("%v is not a jitter", j)
	}
	return []byte(j.String()), nil
}

// UnmarshalText reads one of full, equal, decorrelated, constant, at_once.
func (j *Jitter) UnmarshalText(text []byte) error {
	for i, name := range jitterText {
		if string(text) == name {
			*j = Jitter(i)
			return nil
		}
	}
	return fmt.Errorf("%.40q is not a jitter; write one of %s", text, jitterNames)
}
