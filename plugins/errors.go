package plugins

import "errors"

// Errors of [New].
var (
	// ErrDuplicateID is matched when two compiled plugins have one id.
	ErrDuplicateID = errors.New("plugins: two plugins with one id")
	// ErrShared is matched when a type may not be shared.
	ErrShared = errors.New("plugins: type may not be shared")
	// ErrOptions is matched when an option of the runtime is not valid.
	ErrOptions = errors.New("plugins: invalid options")
)

// Errors of operations.
var (
	// ErrUnknownPlugin is matched when an operation names a plugin that the runtime does not know.
	ErrUnknownPlugin = errors.New("plugins: unknown plugin")
	// ErrNoScope is returned by Options.WriteSettings when the scope has no directory.
	ErrNoScope = errors.New("plugins: the scope has no directory")
)

// Errors of an app that plugins are installed into as modules.
var (
	// ErrWorkFailed is matched by the error with which the app stops after background work of a module had failed.
	ErrWorkFailed = errors.New("background work failed")
)
