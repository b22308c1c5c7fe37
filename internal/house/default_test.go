package house

import (
	"go/ast"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kalan-go/kalan/cache"
	"github.com/kalan-go/kalan/cut"
	"github.com/kalan-go/kalan/drain"
	"github.com/kalan-go/kalan/handoff"
	"github.com/kalan-go/kalan/jitter"
	"github.com/kalan-go/kalan/kalansql"
	"github.com/kalan-go/kalan/pace"
	"github.com/kalan-go/kalan/pause"
	"github.com/kalan-go/kalan/policy/breaker"
	"github.com/kalan-go/kalan/policy/bucket"
	"github.com/kalan-go/kalan/policy/budget"
	"github.com/kalan-go/kalan/policy/limit"
	"github.com/kalan-go/kalan/policy/retry"
	waiting "github.com/kalan-go/kalan/policy/room"
	"github.com/kalan-go/kalan/policy/span"
	"github.com/kalan-go/kalan/policy/stack"
	"github.com/kalan-go/kalan/policy/throttle"
	"github.com/kalan-go/kalan/reconnect"
	"github.com/kalan-go/kalan/slots"
)

const whyDefaults = "the zero value of a field is its documented default, and the comment is all that a reader has: whoever believes it " +
	"plans with a number that is not used. Mend the comment or WithDefaults."

// stated matches what a field's comment says of zero: a number with its unit, or
// that there is none.
var stated = regexp.MustCompile(`(?:\b0|\bZero|Default)(?::| means| is) (?:(\d[\d,.]*\d|\d)(?: (ns|ms|s|minutes))?(?: to (\d+) s)?|(none|no|not|never|nothing)\b)`)

// Every default that a field's comment states is the one that is used.
func TestEveryDefaultIsWhatTheCommentSays(t *testing.T) {
	p := pager{house: standing(t)}
	held := 0
	for _, defaults := range []any{
		cache.Config{}.WithDefaults(),
		cut.Config{}.WithDefaults(),
		drain.Config{}.WithDefaults(),
		handoff.Config{}.WithDefaults(),
		jitter.Schedule{}.WithDefaults(),
		jitter.Start{}.WithDefaults(),
		jitter.Lifetime{}.WithDefaults(),
		kalansql.Config{}.WithDefaults(),
		pace.Config{}.WithDefaults(),
		pause.Config{}.WithDefaults(),
		breaker.Config{}.WithDefaults(),
		bucket.Config{}.WithDefaults(),
		budget.Config{}.WithDefaults(),
		limit.Config{}.WithDefaults(),
		retry.Config{}.WithDefaults(),
		waiting.Config{}.WithDefaults(),
		stack.Config{}.WithDefaults(),
		throttle.Config{}.WithDefaults(),
		reconnect.Config{}.WithDefaults(),
		slots.Config{}.WithDefaults(),
	} {
		value := reflect.ValueOf(defaults)
		dir := strings.TrimPrefix(value.Type().PkgPath(), module+"/")
		at, ok := p.find(dir, value.Type().Name())
		if !ok {
			t.Fatalf("%s has no %s", dir, value.Type().Name())
		}
		for _, f := range at.spec.Type.(*ast.StructType).Fields.List {
			says := stated.FindStringSubmatch(strings.ReplaceAll(f.Doc.Text(), "\n", " "))
			if says == nil || len(f.Names) == 0 {
				continue
			}
			held++
			if got := value.FieldByName(f.Names[0].Name).Interface(); !as(got, says) {
				t.Errorf("%s.%s: the comment says %q, and it is %v\n\nWhy: %s", dir, f.Names[0].Name, says[0], got, whyDefaults)
			}
		}
	}
	if held < 50 {
		t.Errorf("only %d defaults are seen", held)
	}
}

func TestTheDefaultRuleStillSees(t *testing.T) {
	for comment, value := range map[string]any{
		"0: 60 s. Raising it": time.Minute, "0 means 1,000 (F11)": 1000, "0 is 10 minutes.": 10 * time.Minute, "0 is 0.2; negative": .2,
		"0 means no limit": 0., "Zero means 2 s to 5 s (F12).": span.Range{Min: 2 * time.Second, Max: 5 * time.Second},
	} {
		if says := stated.FindStringSubmatch(comment); says == nil || !as(value, says) {
			t.Errorf("%q is not %v", comment, value)
		}
	}
	for comment, value := range map[string]any{"0: 60 s.": time.Second, "0 is 25": 24, "0 means none": 1, "0 is 0.2": .3} {
		if says := stated.FindStringSubmatch(comment); says == nil || as(value, says) {
			t.Errorf("%q is %v", comment, value)
		}
	}
}

// as reports whether a value is what a comment says of it.
func as(value any, says []string) bool {
	if r, ok := value.(span.Range); ok {
		return as(r.Min, says) && as(r.Max, []string{"", says[3], "s", "", ""})
	}
	number := float64(0) // none
	if says[1] != "" {
		var err error
		if number, err = strconv.ParseFloat(strings.ReplaceAll(says[1], ",", ""), 64); err != nil {
			return false
		}
	}
	switch says[2] {
	case "ms":
		number *= float64(time.Millisecond)
	case "s":
		number *= float64(time.Second)
	case "minutes":
		number *= float64(time.Minute)
	}
	switch v := reflect.ValueOf(value); {
	case v.CanInt():
		return float64(v.Int()) == number
	case v.CanUint():
		return float64(v.Uint()) == number
	case v.CanFloat():
		return v.Float() == number
	}
	return false
}
