#!/usr/bin/env bash
# Asks govulncheck about our code, offline: vuln.sh GOVULNCHECK
# The database is a Go module of its own, pinned here; a newer one is a newer version in this line.
# A finding in a module fails. One in the standard library is shown: it is mended by the toolchain, not here.
set -euo pipefail
cd "$(dirname "$0")/.."

govulncheck=$1
version=v0.0.0-20261105234957-e22db6528018
cache=${NETSTEER_CACHE:-$HOME/.cache/netsteer}
db=$cache/vulndb-$version

if [ ! -f "$db/index/db.json" ]; then
	osv=$(cd / && go mod download -json "golang.org/x/vulndb@$version" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')/data/osv
	scripts/tool.sh "$cache/bin/indexdb" "golang.org/x/vulndb/cmd/indexdb@$version"
	rm -rf "$db.new" "$db"
	"$cache/bin/indexdb" -vulns "$osv" -out "$db.new"
	mv "$db.new" "$db"
fi

status=0
report=$("$govulncheck" -db "file://$db" ./...) || status=$?
# Without the hundreds of call chains; govulncheck itself shows them.
awk '/^    Example traces found:/ { skip = 1 } /^ *$/ || /^  [^ ]/ { skip = 0 } !skip' <<<"$report"
case $status in
0) ;;
3) ! grep -q '^ *Module: ' <<<"$report" ;; # 3: found something
*) exit "$status" ;;
esac
