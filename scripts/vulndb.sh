#!/usr/bin/env bash
# Makes govulncheck's database from the pinned Go module that holds it, and prints where it is.
# A newer database is a newer version in this file.
set -euo pipefail
cd "$(dirname "$0")/.."

version=v0.0.0-20261105234957-e22db6528018
cache=${NETSTEER_CACHE:-$HOME/.cache/netsteer}
db=$cache/vulndb-$version

if [ ! -f "$db/index/db.json" ]; then
	osv=$(cd / && go mod download -json "golang.org/x/vulndb@$version" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')/data/osv
	scripts/tool.sh "$cache/bin/indexdb" "golang.org/x/vulndb/cmd/indexdb@$version" >&2
	rm -rf "$db.new" "$db"
	"$cache/bin/indexdb" -vulns "$osv" -out "$db.new" >&2
	mv "$db.new" "$db"
fi
echo "$db"
