#!/bin/sh
# Plays the overload cases against nginx and HAProxy, tuned by hand, and against
# Kalan, of which examples/overload/kalan.yaml says no number; prints the medians
# side by side. It fails when Kalan misses a mark.
#
#   RUNS=3 SUBJECTS="nginx haproxy kalan" CASES="light overload ..." scripts/bench-overload.sh
#
# nginx and haproxy are Debian's packages; one that is not installed is left out
# and said so. Where the kernel allows it, generator and upstream have the
# processor before everybody else, so that it is the gateways that are measured.
# LINES_TO=FILE keeps what was seen, a line a case.
# On a machine that is busy with other work, BUSY=1 gives the gateways the same,
# all of them.
set -eu
cd "$(dirname "$0")/.."
runs=${RUNS:-3}
subjects=${SUBJECTS:-nginx haproxy kalan}
cases=${CASES:-light overload retries brown-out deadlines priority tenants leavers service workers}
first=
if chrt -r 1 true 2>/dev/null; then first="chrt -r 1"; fi
same=
[ -z "${BUSY:-}" ] || same=$first

dir=$(mktemp -d)
lines=${LINES_TO:-$dir/lines}
backend=
gateway=
stop() { # $1: a process. Asked twice, Kalan leaves at once.
	[ -n "$1" ] || return 0
	kill "$1" 2>/dev/null || true
	sleep 0.2
	kill "$1" 2>/dev/null || true
	wait "$1" 2>/dev/null || true
}
trap 'stop "$gateway"; stop "$backend"; rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM

go build -o "$dir/kalan" ./cmd/kalan

# start GATEWAY: in the background, as $gateway, listening on 8080.
start() {
	case $1 in
	kalan) $same "$dir/kalan" serve --config examples/overload/kalan.yaml >>"$dir/kalan.log" 2>&1 & ;;
	nginx)
		sed "s#@PORT@#8080#; s#@UPSTREAM@#127.0.0.1:9000#; s#@DIR@#$dir#" examples/overload/peers/nginx.conf >"$dir/nginx.conf"
		$same nginx -c "$dir/nginx.conf" >>"$dir/nginx.log" 2>&1 &
		;;
	haproxy)
		sed "s#@PORT@#8080#; s#@UPSTREAM@#127.0.0.1:9000#" examples/overload/peers/haproxy.cfg >"$dir/haproxy.cfg"
		$same haproxy -db -f "$dir/haproxy.cfg" >>"$dir/haproxy.log" 2>&1 &
		;;
	esac
	gateway=$!
}

listening() { # waits until somebody answers on port $1
	n=0
	until curl -s -o "$dir/answer" "http://127.0.0.1:$1/" 2>/dev/null; do
		n=$((n + 1))
		[ "$n" -lt 100 ] || { echo "nobody listens on port $1" >&2; cat "$dir"/*.log >&2; exit 1; }
		sleep 0.1
	done
}

play() { # $1: a gateway, $2: a case
	$first "$dir/kalan" overload-backend &
	backend=$!
	listening 9000
	start "$1"
	listening 8080
	metrics=
	[ "$1" != kalan ] || metrics=http://127.0.0.1:9901/metrics
	$first "$dir/kalan" overload-load --case "$2" --label "$1" --metrics "$metrics" >>"$lines"
	stop "$gateway"
	gateway=
	stop "$backend"
	backend=
}

for run in $(seq "$runs"); do
	for subject in $subjects; do
		if [ "$subject" != kalan ] && ! command -v "$subject" >/dev/null; then
			echo "$subject is not installed: left out" >&2
			continue
		fi
		for case in $cases; do
			echo "run $run of $runs: $subject, $case" >&2
			play "$subject" "$case"
		done
	done
done
# WRITE=1 puts what it found where it is shown.
pages=
[ -z "${WRITE:-}" ] || pages="--page docs/overload.md --readme README.md"
how="Medians of $runs runs on $(nproc) cores, load average $(cut -d' ' -f1 /proc/loadavg) at the end${BUSY:+; other work on the machine, so that all of them had the processor before it}. A value behind ! has not reached its mark."
"$dir/kalan" overload-table --how "$how" $pages <"$lines"
