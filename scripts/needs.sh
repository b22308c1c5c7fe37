#!/usr/bin/env bash
# Brings a Debian with Go to what make test needs, where it may: as root. Elsewhere
# it names what is missing, and the tests that need it are left out; in CI, with
# CI=true, nothing may be missing.
set -euo pipefail

# command:package. gcc and the C headers are for the race detector.
needed=(gcc:gcc git:git curl:curl redis-server:redis-server chromium:chromium npm:npm)

missing=()
for need in "${needed[@]}"; do
  command -v "${need%%:*}" >/dev/null || missing+=("${need##*:}")
done
[ -e /usr/include/stdio.h ] || missing+=(libc6-dev)
[ -e /etc/ssl/certs/ca-certificates.crt ] || missing+=(ca-certificates) # or Go fetches no module
# The tests of kalansql start a PostgreSQL of their own; Debian keeps it off the PATH.
compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null || missing+=(postgresql)

# left says what is not here. In CI that is the end.
left() {
  echo "make test: lacks $*; what needs them fails or is left out" >&2
  [ "${CI:-}" != true ]
}

if [ "${#missing[@]}" -gt 0 ]; then
  if ! command -v apt-get >/dev/null || [ "$(id -u)" -ne 0 ]; then
    left "${missing[*]} (packages of Debian, where root gets them by make test)"
    exit
  fi
  export DEBIAN_FRONTEND=noninteractive
  { apt-get update -q && apt-get install -q -y --no-install-recommends "${missing[@]}"; } || left "${missing[*]}"
fi

# What axe says of reports.
[ -e "$(npm root -g)/axe-core/axe.min.js" ] || [ "$(id -u)" -ne 0 ] ||
  npm install -g --no-audit --no-fund axe-core@4.14.1 || left axe-core
