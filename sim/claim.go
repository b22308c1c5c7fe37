package sim

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kalan-go/kalan/policy/span"
)

// A Claim is an expectation, written as one line:
//
//	stable                                   the verdict, of every replication
//	not metastable                           of no replication, and none is undecided
//	goodput >= 0.95 capacity                 means over the replications
//	goodput of orders >= 0.99 offered
//	goodput >= 39 from 60s to 80s            requests a second
//	attempts <= 600
//	amplification <= 1.1
//	amplification of gateway>bridge-a <= 1.1
//	recovery < 5s                            mean; and every replication recovers
//	p99 < 200ms                              also p50, p95, p99.9 and "of" a load
//	refused of bulk <= 0.2                   shares of the offered; also failed, and late
//	                                         for those of the failed that ran out of time
//	fairness >= 0.9                          Jain's index over the loads
//	wasted <= 0.05                           share of all work that was for nobody, or "of" a service's
//	visits of store <= 1.4                   requests that reach a service, for each of the loads
//	work of c <= 0                           seconds of work a second
//	queue of server <= 300                   the longest there was
//
// A claim about verdicts is one about all replications: one that is otherwise,
// or [Undecided], and it is not met. What most replications do is no promise.
type Claim struct {
	not     bool
	verdict Verdict
	metric  string // empty: the verdict is claimed
	of      string
	op      string
	value   float64 // durations in seconds
	unit    string  // "capacity", "offered", "duration" or none
	from    time.Duration
	to      time.Duration
}

var metrics = []string{"goodput", "attempts", "amplification", "recovery", "p50", "p95", "p99", "p99.9", "refused", "failed", "late", "fairness", "wasted", "visits", "work", "queue"}

// shortVerdicts are the words of claims.
var shortVerdicts = []string{"stable", "recovers", "undecided", "suffers", "slow drain", "metastable", "collapsed"}

// String writes the claim as it is read.
func (c Claim) String() string {
	if c.metric == "" {
		if c.not {
			return "not " + shortVerdicts[c.verdict]
		}
		return word(shortVerdicts, int(c.verdict))
	}
	text := c.metric
	if c.of != "" {
		text += " of " + c.of
	}
	text += " " + c.op + " "
	switch c.unit {
	case "duration":
		text += time.Duration(c.value * float64(time.Second)).String()
	case "":
		text += strconv.FormatFloat(c.value, 'g', -1, 64)
	default:
		text += strconv.FormatFloat(c.value, 'g', -1, 64) + " " + c.unit
	}
	if c.to > 0 {
		text += fmt.Sprintf(" from %v to %v", c.from, c.to)
	}
	return text
}

// MarshalText writes the claim as UnmarshalText reads it.
func (c Claim) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads a claim.
func (c *Claim) UnmarshalText(text []byte) error {
	read, err := parseClaim(string(text))
	if err != nil {
		return fmt.Errorf("%.60q is not an expectation: %w", text, err)
	}
	*c = read
	return nil
}

func parseClaim(text string) (Claim, error) {
	var c Claim
	words := strings.Fields(text)
	bare := strings.Join(words, " ")
	c.not = strings.HasPrefix(bare, "not ")
	if v := slices.Index(shortVerdicts, strings.TrimPrefix(bare, "not ")); v >= 0 {
		c.verdict = Verdict(v)
		return c, nil
	}
	if len(words) == 0 || !slices.Contains(metrics, words[0]) {
		return c, fmt.Errorf("write a verdict (%s), or one of %s with a comparison", strings.Join(shortVerdicts, ", "), strings.Join(metrics, ", "))
	}
	c.metric = words[0]
	words = words[1:]
	if len(words) > 1 && words[0] == "of" {
		c.of, words = words[1], words[2:]
	}
	if len(words) < 2 || !slices.Contains([]string{"<", "<=", ">", ">=", "=="}, words[0]) {
		return c, errors.New(`after the figure comes a comparison, such as ">= 0.95 capacity"`)
	}
	c.op = words[0]
	rest, err := c.readValue(words[1:])
	if err != nil {
		return c, err
	}
	return c, c.readWindow(rest)
}

// readValue reads a number with its unit, or a duration.
func (c *Claim) readValue(words []string) ([]string, error) {
	number, err := strconv.ParseFloat(words[0], 64)
	switch {
	case err == nil && (number != number || number < 0 || number > 1e15):
		return nil, fmt.Errorf("%v is not a number to compare with", number)
	case err == nil && c.isTime():
		return nil, fmt.Errorf("%s is a time; write a duration such as 5s", c.metric)
	case err == nil:
		c.value = number
		if words = words[1:]; len(words) > 0 && (words[0] == "capacity" || words[0] == "offered") {
			c.unit, words = words[0], words[1:]
		}
		if c.unit != "" && c.metric != "goodput" && c.metric != "attempts" {
			return nil, fmt.Errorf("%s is no rate; only goodput and attempts compare with %s", c.metric, c.unit)
		}
		return words, nil
	case !c.isTime():
		return nil, fmt.Errorf("%.20q is not a number", words[0])
	}
	d, err := span.Parse(words[0])
	c.value, c.unit = d.Seconds(), "duration"
	return words[1:], err
}

func (c *Claim) isTime() bool { return c.metric == "recovery" || strings.HasPrefix(c.metric, "p") }

func (c *Claim) readWindow(words []string) error {
	if len(words) == 0 {
		return nil
	}
	if len(words) != 4 || words[0] != "from" || words[2] != "to" {
		return fmt.Errorf(`%.40q follows; only "from 40s to 80s" may`, strings.Join(words, " "))
	}
	if c.metric != "goodput" && c.metric != "attempts" && c.metric != "amplification" || strings.Contains(c.of, ">") {
		return fmt.Errorf("%s is known for the whole run alone", c.metric)
	}
	var err, other error
	c.from, err = span.Parse(words[1])
	c.to, other = span.Parse(words[3])
	if err == nil && other == nil && c.from >= c.to {
		err = errors.New("the window ends before it begins")
	}
	return errors.Join(err, other)
}
