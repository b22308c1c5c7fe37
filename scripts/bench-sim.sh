#!/usr/bin/env bash
# Measures how fast the simulator is, beside the loop that others write first and
# beside SimPy, Ciw and happy-simulator on the same M/M/1, all by processor time, and
# makes the table of docs/simulator.md. It fails when a mark is missed.
#
#   scripts/bench-sim.sh [ROUNDS]
#
# In each of ROUNDS rounds (7) everybody has a turn, so that what the machine does
# besides meets all alike; the medians are compared. The peers are installed with pip
# into a folder that is gone afterwards; one that cannot be installed is left out and
# said so. happy-simulator needs Python 3.13: PYTHON names an interpreter.
set -euo pipefail
cd "$(dirname "$0")/.."

rounds=${1:-7}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

python=${PYTHON:-}
for candidate in python3.14 python3.13 python3; do
  if [ -z "$python" ] && "$candidate" -c '' 2>/dev/null; then python=$candidate; fi
done
"$python" -m venv "$scratch/venv"
peers=
for package in simpy ciw happysim; do
  if "$scratch/venv/bin/pip" install --quiet --disable-pip-version-check "$package" 2>"$scratch/pip"; then
    peers="$peers $package"
  else
    echo "bench-sim: $package is LEFT OUT: $("$python" -V) cannot install it: $(tail -1 "$scratch/pip")" >&2
  fi
done

go test -c -o "$scratch/world.test" ./sim/internal/world
for ((round = 1; round <= rounds; round++)); do
  echo "bench-sim: round $round of $rounds" >&2
  "$scratch/world.test" -test.run '^$' -test.bench BenchmarkSpeed -test.benchtime 500ms >>"$scratch/lines"
  for peer in $peers; do
    "$scratch/venv/bin/python" scripts/bench-sim.py play "$peer" 100000 >>"$scratch/lines"
  done
done

versions=$("$scratch/venv/bin/pip" list --disable-pip-version-check 2>/dev/null | awk 'tolower($1) ~ /^(simpy|ciw|happysim)$/ {printf ", %s %s", $1, $2}')
processor=$(awk -F': ' '/^cpu:/ {print $2; exit}' "$scratch/lines")
how="Medians of $rounds rounds in which all took turns, by processor time; $(go env GOVERSION), $("$scratch/venv/bin/python" -V)$versions; ${processor:-unknown processor}."
"$scratch/venv/bin/python" scripts/bench-sim.py table "$scratch/lines" docs/simulator.md "$how"
