package pace_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"time"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/pace"
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/bucket"
)

// A contract allows a hundred calls a second. With a burst of 1 they go out
// evenly, and whoever would have to wait too long is told when to come back.
func Example() {
	sms, err := pace.New(pace.Config{
		Name:   "sms",
		Config: bucket.Config{Rate: 100, Burst: 1},
		Wait:   25 * time.Millisecond,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	begun := time.Now()
	for range 5 {
		if err := sms.Wait(context.Background(), 1); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println("evenly:", time.Since(begun) >= 40*time.Millisecond)

	err = sms.Take(2) // more than a burst of 1 can ever be
	fmt.Println(errors.Is(err, policy.Rate), err)
	// Output:
	// evenly: true
	// true kalan: sms: rate limit exceeded
}

// Every network that calls has a rate of its own.
func ExampleSet() {
	perNetwork, err := pace.NewSet[netip.Prefix](pace.Config{Name: "login", Config: bucket.Config{Rate: 0.1, Burst: 2}})
	if err != nil {
		fmt.Println(err)
		return
	}
	login := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		from, _ := netip.ParseAddrPort(r.RemoteAddr)
		var refused *kalan.Rejection
		if err := perNetwork.Take(pace.Network(from.Addr()), 1); errors.As(err, &refused) {
			seconds := int64(math.Ceil(refused.RetryAfter.Seconds()))
			w.Header().Set("Retry-After", strconv.FormatInt(seconds, 10))
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		w.WriteHeader(http.StatusNoContent) // let in
	})
	for _, from := range []string{"[2001:db8::1]:4000", "[2001:db8::2]:4000", "[2001:db8::3]:4000", "192.0.2.1:4000"} {
		r, w := httptest.NewRequest("POST", "/login", nil), httptest.NewRecorder()
		r.RemoteAddr = from
		login.ServeHTTP(w, r)
		fmt.Printf("%s %d %q\n", from, w.Code, w.Header().Get("Retry-After"))
	}
	// Output:
	// [2001:db8::1]:4000 204 ""
	// [2001:db8::2]:4000 204 ""
	// [2001:db8::3]:4000 429 "10"
	// 192.0.2.1:4000 204 ""
}
