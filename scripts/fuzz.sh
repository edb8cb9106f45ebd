#!/usr/bin/env bash
# Runs every fuzz target in turn: fuzz.sh SECONDS-EACH SECONDS-TOTAL, the latter with compiling
# What a target finds lands in its package's testdata/fuzz, to be committed with the mend.
set -euo pipefail
cd "$(dirname "$0")/.."

each=$1 total=$2

# go test -list prints the names of a package, then "ok PACKAGE TIME".
targets=$(go test -list '^Fuzz' ./... | awk '
	/^Fuzz/    { names[++n] = $1 }
	$1 == "ok" { for (i = 1; i <= n; i++) print $2, names[i] }
	/^(ok|\?)/ { n = 0 }')
if [ -z "$targets" ]; then
	echo "no fuzz target" >&2
	exit 1
fi
left=$(wc -l <<<"$targets")
echo "$left fuzz targets"

# Go's fuzzer ends a run by its time limit with "context deadline exceeded" when a worker is then
# slow to answer, and has found nothing: a failing input always leaves a file and says so.
out=$(mktemp)
trap 'rm -f "$out"' EXIT
timed_out() { grep -q '^    context deadline exceeded' "$out" && ! grep -q 'Failing input written' "$out"; }

passed=0 failed=0
while read -r package name; do
	# What is left of the time, shared among the targets that are left: the compilers' share is gone already.
	seconds=$(((total - SECONDS) / left))
	((seconds <= each)) || seconds=$each
	((seconds >= 1)) || seconds=1
	left=$((left - 1))
	if go test -run '^$' -fuzz "^$name\$" -fuzztime "${seconds}s" "$package" </dev/null 2>&1 | tee "$out" || timed_out; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
	fi
done <<<"$targets"
echo "$passed passed, $failed failed"
((failed == 0))
