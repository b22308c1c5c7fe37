// Package examples holds the configuration files that the documentation shows,
// so that `kalan demo` can tell its story wherever it was installed. It is data
// for the tool; a program of yours has a configuration of its own.
package examples

import _ "embed" // for the files

// TradingBare is examples/trading/bare.yaml: four bridges, no defences.
//
//go:embed trading/bare.yaml
var TradingBare []byte

// Trading is examples/trading/kalan.yaml: the same bridges with them.
//
//go:embed trading/kalan.yaml
var Trading []byte
