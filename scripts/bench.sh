#!/usr/bin/env bash
# Measures Kalan beside its peers, and makes docs/benchmarks.md and the README's
# summary of what it finds: ROUNDS rounds (10) over every benchmark, each for
# TIME (200ms), so that peers that are compared are measured at about the same
# time. About two minutes; on a quiet machine the wall times mean something too.
set -euo pipefail
cd "$(dirname "$0")/../bench"

rounds=${1:-10}
time=${2:-200ms}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export GOWORK=off

go test -c -o "$scratch/bench.test" .
for ((round = 1; round <= rounds; round++)); do
  echo "bench: round $round of $rounds" >&2
  "$scratch/bench.test" -test.run '^$' -test.bench . -test.benchtime "$time" >>"$scratch/results"
done
go tool benchstat -table .name -row /peer -filter '.unit:(cpu-sec/op OR sec/op)' "all rounds=$scratch/results" >"$scratch/stats"

processor=$(awk -F': ' '/^cpu:/ {print $2; exit}' "$scratch/results")
how="$rounds rounds of $time for each benchmark, $(go env GOVERSION), $(nproc) cores, ${processor:-unknown processor}."
go run ./table -results "$scratch/results" -benchstat "$scratch/stats" -how "$how" -page ../docs/benchmarks.md -readme ../README.md
sed -n '/^## Targets/,/^## Circuit/p' ../docs/benchmarks.md | sed '$d'
