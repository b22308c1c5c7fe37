package kalanhttp_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/kalanhttp"
	"github.com/kalan-go/kalan/policy"
)

func TestRefuse(t *testing.T) {
	for why, want := range map[policy.Reason]struct {
		status int
		after  [2]int // the range of Retry-After; zero: none
	}{
		policy.Rate: {429, [2]int{10, 15}}, policy.Open: {503, [2]int{10, 15}}, policy.Full: {503, [2]int{10, 10}},
		policy.Timeout: {504, [2]int{}}, policy.Expired: {504, [2]int{}}, policy.Reason(200): {502, [2]int{}},
	} {
		w := httptest.NewRecorder()
		err := fmt.Errorf("asking for the price: %w", &kalan.Rejection{Guard: "prices", Reason: why, RetryAfter: 10 * time.Second})
		if !kalanhttp.Refuse(w, err) {
			t.Fatalf("%v is no refusal", why)
		}
		var problem struct{ Guard string }
		if err := json.Unmarshal(w.Body.Bytes(), &problem); err != nil || problem.Guard != "prices" || w.Code != want.status {
			t.Errorf("%v: %d %s", why, w.Code, w.Body)
		}
		after, _ := strconv.Atoi(w.Header().Get("Retry-After"))
		if after < want.after[0] || after > want.after[1] {
			t.Errorf("%v: back in %d s, want %v", why, after, want.after)
		}
	}
}

func TestRefuseLeavesTheRestAlone(t *testing.T) {
	for _, err := range []error{nil, errors.New("no such article"), policy.Open} {
		w := httptest.NewRecorder()
		if kalanhttp.Refuse(w, err) || w.Body.Len() > 0 || len(w.Header()) > 0 {
			t.Errorf("%v was answered with %d %s", err, w.Code, w.Body)
		}
	}
}
