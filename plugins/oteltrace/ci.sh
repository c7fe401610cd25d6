#!/usr/bin/env bash
# The tests of this module: against a server that decodes what a collector would get.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
go mod tidy -diff
go vet ./...
go test -race -count=1 ./...
