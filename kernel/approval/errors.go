package approval

import "errors"

// Errors of permissions.json.
var (
	// ErrLocked is returned when another process holds the lock of permissions.json for longer than five seconds.
	ErrLocked = errors.New("approval: permissions.json is locked")
	// ErrUnreadable is returned when permissions.json can't be parsed: it is never overwritten then.
	ErrUnreadable = errors.New("approval: permissions.json can't be parsed")
)
