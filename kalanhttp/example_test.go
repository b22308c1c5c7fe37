package kalanhttp_test

import (
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/kalanhttp"
	"github.com/kalan-go/kalan/pace"
	"github.com/kalan-go/kalan/policy"
	"github.com/kalan-go/kalan/policy/bucket"
)

// An outgoing client: one guard, one line.
func ExampleTransport() {
	config := kalan.Config{Name: "bridge"}
	config.Exchange = 800 * time.Millisecond
	bridge, err := kalan.New(config)
	if err != nil {
		log.Fatal(err)
	}
	client := &http.Client{Transport: &kalanhttp.Transport{Guard: bridge}}
	defer client.CloseIdleConnections()

	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Envoy-Attempt-Count") == "1" {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		io.WriteString(w, "42")
	}))
	defer server.Close()

	answer, err := client.Get(server.URL)
	switch {
	case errors.Is(err, policy.Open):
		fmt.Println("it is down; nobody was asked")
		return
	case err != nil:
		log.Fatal(err)
	}
	defer answer.Body.Close() // gives the slot back
	price, err := io.ReadAll(answer.Body)
	if err != nil {
		log.Fatal(err) // it broke off, or its time was up
	}
	fmt.Println(string(price), "after", bridge.Snapshot().Counts.Started, "attempts")
	// Output: 42 after 2 attempts
}

// A client that calls many hosts: a guard for each.
func ExampleHosts() {
	config := kalan.Config{}
	config.Exchange = 2 * time.Second
	hosts, err := kalanhttp.NewHosts(config, 500)
	if err != nil {
		log.Fatal(err)
	}
	client := &http.Client{Transport: &kalanhttp.Transport{Hosts: hosts, Quiet: true}}
	defer client.CloseIdleConnections()

	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	if answer, err := client.Get(server.URL); err == nil {
		answer.Body.Close()
	}
	for _, g := range hosts.Guards() {
		fmt.Println(g.Snapshot().Counts.Calls, "call to one host")
	}
	// Output: 1 call to one host
}

// A server: at most 25 requests at once, the rest waits a little or is refused.
func ExampleHandler() {
	config := kalan.Config{Name: "orders"}
	config.Exchange = time.Second
	admission, err := kalan.New(kalanhttp.ForServer(config))
	if err != nil {
		log.Fatal(err)
	}
	orders := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		until, _ := r.Context().Deadline() // no later than the caller waits
		fmt.Fprint(w, "in time: ", time.Until(until) <= 450*time.Millisecond)
	})
	server := httptest.NewServer(&kalanhttp.Handler{Guard: admission, Next: orders})
	defer server.Close()

	for _, remaining := range []string{"450", "0"} {
		r, _ := http.NewRequest("GET", server.URL, nil)
		r.Header.Set("X-Remaining-Ms", remaining)
		answer, err := server.Client().Do(r)
		if err != nil {
			log.Fatal(err)
		}
		text, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		fmt.Printf("%d %.14s\n", answer.StatusCode, text)
	}
	// Output:
	// 200 in time: true
	// 504 {"type":"urn:k
}

// Two exports a minute for each customer, before its requests take a slot. What refuses is
// answered like every other refusal.
func ExampleRefuse() {
	perCustomer, err := pace.NewSet[string](pace.Config{Name: "exports", Config: bucket.Config{Rate: 2. / 60, Burst: 1}})
	if err != nil {
		log.Fatal(err)
	}
	export := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if kalanhttp.Refuse(w, perCustomer.Take(r.Header.Get("X-Api-Key"), 1)) {
			return
		}
		w.WriteHeader(http.StatusCreated) // a kalanhttp.Handler, usually
	})
	for _, customer := range []string{"ada", "ben", "ada"} {
		r, w := httptest.NewRequest("POST", "/exports", nil), httptest.NewRecorder()
		r.Header.Set("X-Api-Key", customer)
		export.ServeHTTP(w, r)
		fmt.Printf("%s %d %q\n", customer, w.Code, w.Header().Get("Content-Type"))
	}
	// Output:
	// ada 201 ""
	// ben 201 ""
	// ada 429 "application/problem+json"
}
