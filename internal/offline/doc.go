// Package offline is the protocol offline: a deterministic model without a network, for first steps, examples and tests.
// Tools, hooks, approval and the log work with it as with any other.
//
// The model rules understands a few plain sentences ("read main.go", "run go test ./...") and answers what it does not
// understand with the list of them. A scenario file scripts the answers instead, step by step; it is named by the
// provider definition, by the variable CRYSTAL_OFFLINE_SCENARIO, or as the model itself:
//
//	crystal run -m offline/fix.jsonc "fix the test"
//
// All clients of one factory that use one file share its steps, whatever they are for.
package offline
