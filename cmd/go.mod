module github.com/kalan-go/kalan/cmd

go 1.26

require (
	github.com/HdrHistogram/hdrhistogram-go v1.4.0
	github.com/kalan-go/kalan v0.0.0
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.3
	github.com/spf13/cobra v1.10.2
	go.uber.org/goleak v1.3.0
	go.yaml.in/yaml/v4 v4.0.0
	pgregory.net/rapid v1.3.0
)

require (
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/spf13/pflag v1.0.9 // indirect
	golang.org/x/text v0.14.0 // indirect
)

replace github.com/kalan-go/kalan => ../
