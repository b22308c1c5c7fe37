#!/usr/bin/env bash
# Says which tests have been skipped because this machine lacks what they run
# against, and how to get it. A skip by itself is seen with go test -v only.
# Says too which tests failed once and passed by themselves.
set -euo pipefail

left=0
out() { # out WHAT HOW
  echo "left out: $1; $2" >&2
  left=1
}

command -v redis-server >/dev/null || out "kalanredis against a real server" "apt-get install redis-server"
# Debian keeps it off the PATH.
compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null || command -v initdb >/dev/null ||
  out "kalansql against a real database" "apt-get install postgresql"
command -v chromium >/dev/null || command -v google-chrome >/dev/null || command -v chrome >/dev/null ||
  out "reports in a browser" "apt-get install chromium"
{ command -v npm >/dev/null && [ -e "$(npm root -g)/axe-core/axe.min.js" ]; } ||
  out "what axe says of reports" "npm install -g axe-core"

forgiven=""
if [ -s bin/again.txt ]; then
  cat bin/again.txt >&2
  echo >&2
  forgiven=", and the tests above at their second run: they depend on luck and want mending"
fi

if [ "$left" -eq 0 ]; then
  echo "make test: all of it passed$forgiven"
else
  echo "make test: passed, but for what was left out$forgiven" >&2
fi
