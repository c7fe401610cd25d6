// Package peertest holds the wire protocols against two kinds of peers: a model server of somebody else, which is
// started for the tests, and the official client libraries, whose request bodies are compared with ours member by
// member. It is a module of its own, so that the libraries stay out of the project's.
//
//	cd internal/peertest && go test ./...
//
// The first run installs the server with npm below peer/. Differences between bodies are listed in a table with their
// reasons; one that is not listed fails the test, and so does an entry that no longer holds.
package peertest
