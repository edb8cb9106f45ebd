#!/usr/bin/env bash
# Builds one Go tool into a file: tool.sh FILE PACKAGE@VERSION
set -euo pipefail

file=$1 package=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

mkdir -p "$(dirname "$file")"
# Outside of the module, so that its go.mod has no say in the tool's versions.
(cd / && GOBIN=$dir GOFLAGS='' CGO_ENABLED=0 go install "$package")
mv "$dir"/* "$file"
