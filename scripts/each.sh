#!/usr/bin/env bash
# Runs a command in each module that has any Go in it, and stops at the first
# that fails.
set -euo pipefail
cd "$(dirname "$0")/.."

for module in . adapters bench cmd; do
  if [ -z "$(find "$module" -name '*.go' -print -quit)" ]; then
    echo "$module: no Go yet"
    continue
  fi
  echo "$module: $*"
  (cd "$module" && "$@")
done
