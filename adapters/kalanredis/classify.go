package kalanredis

import (
	"errors"
	"io"

	"github.com/redis/go-redis/v9"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/policy"
)

// again asks for another attempt of what is no failure: a Report without a
// time to come back is not followed by one.
const again = 1

// answers are the server's errors that say something about it, by how they
// begin. All others are business.
var answers = [...]struct {
	prefix string
	report policy.Report
}{
	{"LOADING", policy.Report{Outcome: policy.Failure}},
	{"MASTERDOWN", policy.Report{Outcome: policy.Failure}},
	{"CLUSTERDOWN", policy.Report{Outcome: policy.Failure}},
	{"READONLY", policy.Report{Outcome: policy.Failure}},
	{"NOREPLICAS", policy.Report{Outcome: policy.Failure}},
	{"BUSY ", policy.Report{Outcome: policy.Failure}}, // not BUSYGROUP or BUSYKEY
	{"max number of clients reached", policy.Report{Outcome: policy.Failure, Refused: true}},
	{"OOM", policy.Report{Outcome: policy.Failure, Final: true}},
	{"MISCONF", policy.Report{Outcome: policy.Failure, Final: true}},
	{"TRYAGAIN", policy.Report{RetryAfter: again}},
}

// Classify says what an error of go-redis's tells of the server: the table of
// the package comment.
func Classify(err error) policy.Report {
	var said redis.Error
	switch {
	case err == nil, errors.Is(err, redis.Nil):
		return policy.Report{Outcome: policy.Success}
	case errors.As(err, &said):
		return classifyAnswer(err)
	case errors.Is(err, io.EOF):
		return policy.Report{Outcome: policy.Failure}
	}
	return kalan.Classify(err)
}

func classifyAnswer(err error) policy.Report {
	for _, a := range answers {
		if redis.HasErrorPrefix(err, a.prefix) {
			return a.report
		}
	}
	return policy.Report{Final: true}
}

// judgeAll judges a pipeline: by its worst command, and by its own error, which
// is the first of theirs or one that came before them all.
func judgeAll(cmds []redis.Cmder, err error) policy.Report {
	worst := Classify(err)
	for _, cmd := range cmds {
		if r := Classify(cmd.Err()); r.Outcome == policy.Failure {
			r.Final = r.Final || worst.Final && worst.Outcome == policy.Failure
			worst = r
		}
	}
	return worst
}

// starved reports whether our own pool had no connection to give.
func starved(err error) bool {
	return errors.Is(err, redis.ErrPoolTimeout) || errors.Is(err, redis.ErrPoolExhausted)
}
