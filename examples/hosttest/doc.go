// Package hosttest is an integration test of a host: the model is scripted, an fx module is exchanged, and the test asserts
// on the events of a turn. Everything else is real.
//
//	go test ./examples/hosttest
package hosttest
