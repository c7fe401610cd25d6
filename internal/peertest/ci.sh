#!/usr/bin/env bash
# The tests of this module. They need npm, for a model server of somebody else, and take under a minute once it is there.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
go mod tidy -diff
go vet ./...
go test -count=1 ./...
