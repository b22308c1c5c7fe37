#!/bin/sh
# Plays the overload cases against nginx and HAProxy, tuned by hand, and against
# Kalan, of which examples/overload/kalan.yaml says no number; prints the medians
# side by side. It fails when Kalan misses a mark.
#
#   RUNS=3 SUBJECTS="nginx haproxy relay kalan" CASES="light overload ..." scripts/bench-overload.sh
#
# relay is net/http with nothing around it. It is played in the light case alone,
# where it tells what of the added time is Kalan's and what is Go's.
# nginx and haproxy are Debian's packages; one that is not installed is left out
# and said so. Where the kernel allows it, generator and upstream have the
# processor before everybody else, so that it is the gateways that are measured.
# LINES_TO=FILE keeps what was seen, a line a case.
# On a machine that is busy with other work, BUSY=1 gives the gateways the same,
# all of them.
#
# In the light case the processors are kept from halting (AWAKE=0 lets them).
# Below capacity everybody sleeps most of the time, and a request wakes one
# process after the other: generator, gateway, upstream, and back. To wake a
# halted processor takes a virtual machine as long as to pass a request on, and
# a gateway of several threads needs it more often, so that the machine would be
# measured. Loops of the class SCHED_IDLE, which run when nobody else wants to,
# keep them awake and take nothing from anybody.
set -eu
cd "$(dirname "$0")/.."
runs=${RUNS:-3}
subjects=${SUBJECTS:-nginx haproxy relay kalan}
cases=${CASES:-light overload retries brown-out deadlines priority tenants leavers service workers}
first=
if chrt -r 1 true 2>/dev/null; then first="chrt -r 1"; fi
same=
[ -z "${BUSY:-}" ] || same=$first
awake=${AWAKE:-1}
if [ "$awake" = 1 ] && ! chrt -i 0 true 2>/dev/null; then
	echo "there is no SCHED_IDLE here: the processors may halt" >&2
	awake=0
fi

dir=$(mktemp -d)
lines=${LINES_TO:-$dir/lines}
backend=
gateway=
loops=
stop() { # $1: a process. Asked twice, Kalan leaves at once.
	[ -n "$1" ] || return 0
	kill "$1" 2>/dev/null || true
	sleep 0.2
	kill "$1" 2>/dev/null || true
	wait "$1" 2>/dev/null || true
}
# They end by themselves when this script does.
wake() {
	for _ in $(seq "$(nproc)"); do
		chrt -i 0 sh -c 'while kill -0 "$1" 2>/dev/null; do :; done' awake $$ &
		loops="$loops $!"
	done
}
halt() {
	for loop in $loops; do kill "$loop" 2>/dev/null || true; done
	loops=
}
trap 'halt; stop "$gateway"; stop "$backend"; rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM

go build -o "$dir/kalan" ./cmd/kalan

# start GATEWAY: in the background, as $gateway, listening on 8080.
start() {
	case $1 in
	relay) $same "$dir/kalan" overload-relay >>"$dir/relay.log" 2>&1 & ;;
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
	[ "$awake" = 0 ] || [ "$2" != light ] || wake
	metrics=
	[ "$1" != kalan ] || metrics=http://127.0.0.1:9901/metrics
	$first "$dir/kalan" overload-load --case "$2" --label "$1" --metrics "$metrics" >>"$lines"
	halt
	stop "$gateway"
	gateway=
	stop "$backend"
	backend=
}

there() { # $1: a gateway; two of them are built here
	case $1 in
	kalan | relay) ;;
	*) command -v "$1" >/dev/null ;;
	esac
}

for run in $(seq "$runs"); do
	for subject in $subjects; do
		if ! there "$subject"; then
			echo "$subject is not installed: left out" >&2
			continue
		fi
		for case in $cases; do
			[ "$subject" != relay ] || [ "$case" = light ] || continue
			echo "run $run of $runs: $subject, $case" >&2
			play "$subject" "$case"
		done
	done
done
# WRITE=1 puts what it found where it is shown.
pages=
[ -z "${WRITE:-}" ] || pages="--page docs/overload.md --readme README.md"
kept=
[ "$awake" = 0 ] || kept="; the processors kept from halting in the light case"
how="Medians of $runs runs on $(nproc) cores, load average $(cut -d' ' -f1 /proc/loadavg) at the end$kept${BUSY:+; other work on the machine, so that all of them had the processor before it}. A value behind ! has not reached its mark."
"$dir/kalan" overload-table --how "$how" $pages <"$lines"
