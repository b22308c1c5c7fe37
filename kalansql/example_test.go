package kalansql_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/lib/pq"

	"github.com/kalan-go/kalan/kalansql"
	"github.com/kalan-go/kalan/policy"
)

// A database that is not there: its callers are told so at once.
func Example() {
	connector, err := pq.NewConnector("host=/nowhere user=shop sslmode=disable")
	if err != nil {
		log.Fatal(err)
	}
	db, err := kalansql.Open(connector, kalansql.Config{Name: "orders", Connections: 10})
	if err != nil {
		log.Fatal(err) // everything that is wrong with the configuration, at once
	}
	defer db.Close()

	for range 30 {
		_, err = priceOf(db, "tea")
	}
	switch {
	case errors.Is(err, policy.Waited), errors.Is(err, policy.Full), errors.Is(err, policy.Shed):
		fmt.Println("too many of us")
	case errors.Is(err, policy.Open):
		fmt.Println("it is down, and is left alone for a while")
	case errors.Is(err, policy.Timeout):
		fmt.Println("it is too slow")
	}
	// Output: it is down, and is left alone for a while
}

func priceOf(db *kalansql.DB, article string) (price int, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	err = db.QueryRowContext(ctx, "SELECT price FROM prices WHERE article = $1", article).Scan(&price)
	return price, err
}

// A transaction that lost against another is run again, as a whole.
func ExampleConflict() {
	results := []error{&pq.Error{Code: "40001"}, nil}
	transfer := func() (err error) { // begins, works, commits
		err, results = results[0], results[1:]
		return err
	}
	for attempt := 1; attempt <= 3; attempt++ {
		err := transfer()
		if err == nil {
			fmt.Println("committed by attempt", attempt)
			return
		}
		if !kalansql.Conflict(err) {
			log.Fatal(err) // the same again would fail again
		}
		fmt.Println("attempt", attempt, "got in another's way")
	}
	// Output:
	// attempt 1 got in another's way
	// committed by attempt 2
}
