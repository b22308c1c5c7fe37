package kalanhttp_test

import (
	"net/http"
	"testing"

	"github.com/kalan-go/kalan/policy"
)

// What a status says of the dependency, as the table of the package's
// documentation has it: a breaker hears of failures, and of nothing else.
func TestWhatAnAnswerSays(t *testing.T) {
	for status, want := range map[int]policy.Outcome{
		200: policy.Success, 204: policy.Success, 301: policy.Success, 400: policy.Success, 404: policy.Success, 409: policy.Success,
		429: policy.Ignored,
		500: policy.Failure, 501: policy.Failure, 502: policy.Failure, 503: policy.Failure, 504: policy.Failure,
	} {
		s := serve(t, guard(t, once), func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
		if answer, _, err := s.send(t, t.Context(), "GET", ""); err != nil || answer.StatusCode != status {
			t.Errorf("%d: %v", status, err)
		}
		if got := s.outcomes(t); got != count(want) {
			t.Errorf("%d: counted %v, want one %v", status, got, want)
		}
	}
}
