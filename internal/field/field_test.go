package field

import (
	"math"
	"testing"
	"time"

	"github.com/kalan-go/kalan/policy"
)

func TestEveryProblemIsKept(t *testing.T) {
	var c Check
	c.Duration("delay", -time.Second)
	c.Count("workers", 0, 10)
	c.Count("queue", 11, 10)
	c.Number("share", math.NaN(), 0, 1)
	c.Number("beta", math.Inf(1), 0, 100)
	c.Add(policy.Problems{{Path: "part", Text: "is wrong", Warning: true}})
	c.Warn("grace", "%v is long", time.Hour)
	want := `delay: -1s is negative; write a duration such as 5s, or leave it out
workers: 0 is out of range; write a number from 1 to 10
queue: 11 is out of range; write a number from 1 to 10
share: NaN is out of range; write a number from 0 to 1
beta: +Inf is out of range; write a number from 0 to 100
part: is wrong
grace: 1h0m0s is long`
	if got := c.Problems().Error(); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	if n := len(c.Problems().Errors()); n != 5 {
		t.Errorf("%d of the problems are errors, want 5", n)
	}
}

func TestWhatIsInRangeIsNoProblem(t *testing.T) {
	var c Check
	c.Duration("delay", 0)
	c.Count("workers", 1, 1)
	c.Count("workers", 10, 10)
	c.Number("share", 0, 0, 1)
	c.Number("share", 1, 0, 1)
	if c.Problems() != nil {
		t.Errorf("unexpected: %v", c.Problems())
	}
}

func TestDefaultsFillWhatWasLeftOut(t *testing.T) {
	n, d := 0, -time.Second
	Default(&n, 7)
	Default(&d, time.Minute)
	if n != 7 || d != -time.Second {
		t.Errorf("%d, %v", n, d)
	}
}

func TestTheErrorSaysWhatWasToBeMade(t *testing.T) {
	var c Check
	c.Warn("grace", "is long")
	if err := Error("cut", "ldap", c.Problems()); err != nil {
		t.Errorf("a warning is no error: %v", err)
	}
	c.Refuse("limit", "is wrong")
	for name, want := range map[string]string{"ldap": "cut ldap:\nlimit: is wrong", "": "cut:\nlimit: is wrong"} {
		if err := Error("cut", name, c.Problems()); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
