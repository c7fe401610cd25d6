package home

import "github.com/crystalkernel/crystal/internal/terminal"

// Severity sorts notes.
type Severity string

// The severities.
const (
	Info    Severity = "info"
	Warning Severity = "warning"
	Error   Severity = "error"
)

// Note is one line for the operator about something that did not go as it could. A note never stops anything.
type Note struct {
	Code      Code
	Severity  Severity
	Plugin    string // whose, when there is one
	Directory string
	Source    string // home or project
	Point     string
	Label     string // "<plugin id>/<hook label>"
	Text      string // what, why, what happens now
	Fix       string // how to put it right; may be blank
}

// noteLimit is the number of characters of a note's text.
const noteLimit = 500

// Cleaned returns the note with text that is safe to show: one line, no control characters, at most 500 characters.
func (n Note) Cleaned() Note {
	for _, s := range []*string{&n.Plugin, &n.Directory, &n.Source, &n.Point, &n.Label, &n.Text, &n.Fix} {
		*s = terminal.Line(*s, noteLimit)
	}
	return n
}

func warning(code Code, text string) Note {
	return Note{Code: code, Severity: Warning, Text: text}.Cleaned()
}
