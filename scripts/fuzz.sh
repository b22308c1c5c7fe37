#!/usr/bin/env bash
# Fuzzes every target of the library, one after the other, for the given time
# each (the go command fuzzes one target a run).
set -euo pipefail
cd "$(dirname "$0")/.."

time=${1:?usage: scripts/fuzz.sh TIME, such as 10s}
count=0
while IFS=: read -r file declaration; do
  name=${declaration#func }
  name=${name%%(*}
  echo "fuzz: $(dirname "$file") $name"
  go test -run '^$' -fuzz "^$name\$" -fuzztime "$time" "./$(dirname "$file")"
  count=$((count + 1))
done < <(git grep -E '^func Fuzz[A-Z]' -- '*_test.go' ':!bench' ':!cmd' ':!adapters')

echo "fuzz: $count targets"
[ "$count" -gt 0 ]
