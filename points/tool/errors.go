package tool

import "errors"

// ErrEnded is returned by the Call of an invocation that has ended.
var ErrEnded = errors.New("tool: the invocation has ended")

// UnservedError is returned by a runtime that can't serve a call now. The call ends with [CodeUnavailable]; Reason is
// one of the Reason constants.
type UnservedError struct{ Reason string }

// Error implements error.
func (e *UnservedError) Error() string { return "tool: the tool can't be served now: " + e.Reason }
