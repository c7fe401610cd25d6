package fence

import "errors"

// Errors of paths.
var (
	// ErrMalformed is returned for a path that no file can have.
	ErrMalformed = errors.New("malformed path")
	// ErrDenied is returned when a path is not, or no longer, the one that was approved.
	ErrDenied = errors.New("access denied")
	// ErrDangling is returned for writing through a link whose target doesn't exist. It is ErrDenied.
	ErrDangling = denied("a link on the way leads to nothing")
	// ErrMoved is returned when a path leads somewhere else than when it was approved. It is ErrDenied.
	ErrMoved = denied("the path leads somewhere else than when it was approved")
	// ErrOutside is returned for a path outside the workspace that nobody approved. It is ErrDenied.
	ErrOutside = denied("the path lies outside the workspace and was not approved")
	// ErrDirectory is returned where a file is wanted and a directory is there.
	ErrDirectory = errors.New("is a directory")
	// ErrNotDirectory is returned where a directory is wanted and something else is there.
	ErrNotDirectory = errors.New("is not a directory")
	// ErrSpecial is returned for devices, sockets and pipes.
	ErrSpecial = errors.New("is a device, socket or pipe")
)

type denied string

func (d denied) Error() string     { return string(d) }
func (d denied) Is(err error) bool { return err == ErrDenied }
