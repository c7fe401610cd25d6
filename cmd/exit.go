package crystalcmd

import (
	"errors"
	"fmt"

	"github.com/crystalkernel/crystal/internal/home/jsonc"
	"github.com/crystalkernel/crystal/internal/terminal"
)

// Exit codes of a host. 130, 143 and 129 are signals that ended the process before a turn could report.
const (
	ExitOK          = 0 // done; a turn completed and nothing was denied
	ExitInvalid     = 1 // options, files, names, keys: nothing was done, no turn ran
	ExitFailed      = 2 // a turn failed, or its content was withheld
	ExitLimit       = 3 // a limit ended a turn
	ExitDenied      = 4 // a turn completed with something denied or dismissed; or the workspace is not trusted
	ExitInterrupted = 5 // a turn was interrupted
)

// exitError ends the program with a code. A nil err prints nothing: everything has been said.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// messageLimit bounds an error message; a message may list many names.
const messageLimit = 4000

// exit prints the error of a command, if there is one, and returns the exit code.
func (p *program) exit(err error) int {
	if err == nil {
		return ExitOK
	}
	code := ExitInvalid
	var e *exitError
	if errors.As(err, &e) {
		if code = e.code; e.err == nil {
			return code
		}
	}
	text := err.Error()
	var locked *jsonc.LockedError
	if errors.As(err, &locked) {
		text = "ConfigLocked: " + text
	}
	p.say("crystal: " + text)
	return code
}

// say prints one notice on stderr.
func (p *program) say(text string) {
	fmt.Fprintln(p.stderr, terminal.Line(text, messageLimit))
}
