#!/usr/bin/env bash
# Runs the commands that a document shows, so that they stay true.
#
# A block ```sh that follows a line <!-- run --> is run from the root of the
# repository. One that follows <!-- run: server --> is started in the
# background; it must print a line that begins with "curl ", which is run and
# must succeed, and then the server is told to stop and must do so. A block
# without such a line is for the reader alone.
set -euo pipefail
cd "$(dirname "$0")/.."

document=${1:?usage: scripts/readme.sh FILE}
scratch=$(mktemp -d)
server=
trap 'if [ -n "$server" ]; then kill -TERM -- "-$server" 2>/dev/null || true; fi; rm -rf "$scratch"' EXIT

# One file a block: 01.run, 02.server, ...
awk -v to="$scratch" '
  /^<!-- run(: server)? -->$/ { kind = /server/ ? "server" : "run"; next }
  /^```sh$/ && kind           { n++; file = sprintf("%s/%02d.%s", to, n, kind); inside = 1; kind = ""; next }
  /^```$/                     { inside = 0; next }
  inside                      { print > file }
  /[^[:space:]]/ && !inside   { kind = "" }
' "$document"

# answers waits for the curl line of a server, at most two minutes, runs it, and
# stops the server.
answers() {
  local block=$1 log=$scratch/log line="" wait
  set -m # a process group of its own, so that all of it can be told to stop
  bash -euo pipefail "$block" >"$log" 2>&1 </dev/null &
  server=$!
  set +m
  for ((wait = 0; wait < 1200; wait++)); do
    line=$(grep -m1 -oE '^[[:space:]]*curl .*' "$log" || true)
    [ -z "$line" ] || break
    kill -0 "$server" 2>/dev/null || break
    sleep 0.1
  done
  if [ -z "$line" ]; then
    echo "readme: $(cat "$block"): no curl line within two minutes; it printed:" >&2
    cat "$log" >&2
    return 1
  fi
  echo "readme: $line"
  # What was started a moment ago answers within its 800 ms unless the machine is
  # busy with others just then (docs/adr/0053).
  bash -euo pipefail -c "$line" >"$scratch/answer" 2>&1 || {
    echo "readme: FAILED 1 OF 2 RUNS: $(cat "$scratch/answer")" >&2
    sleep 2
    bash -euo pipefail -c "$line" >"$scratch/answer" 2>&1 || { cat "$scratch/answer" "$log" >&2; return 1; }
  }
  kill -TERM -- "-$server"
  wait "$server" || true
  server=
}

count=0
for block in "$scratch"/*.run "$scratch"/*.server; do
  [ -e "$block" ] || continue
  echo "readme: $(head -n 1 "$block")"
  case $block in
    *.run) bash -euo pipefail "$block" </dev/null >"$scratch/out" 2>&1 || { cat "$scratch/out" >&2; exit 1; } ;;
    *.server) answers "$block" ;;
  esac
  count=$((count + 1))
done
echo "readme: $count blocks of $document are true"
[ "$count" -gt 0 ]
