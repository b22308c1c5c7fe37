module github.com/kalan-go/kalan/bench

go 1.26

require github.com/kalan-go/kalan v0.0.0

replace github.com/kalan-go/kalan => ../
