package plugins

import (
	"fmt"
	"runtime/debug"
)

// contained calls f and turns a panic into an error, with the stack in its text: for the log alone.
func contained(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return f()
}
