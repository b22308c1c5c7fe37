module github.com/kalan-go/kalan

go 1.26

require (
	github.com/lib/pq v1.12.3 // indirect
	go.uber.org/goleak v1.3.0 // indirect
	pgregory.net/rapid v1.3.0 // indirect
)
