package terminal

import (
	"io"
	"os"

	"golang.org/x/term"
)

// Stream is where output goes, and what is known about the place. The zero value but for W is a pipe or a file.
type Stream struct {
	W      io.Writer
	Width  int  // cells of a line; 0 when it is no terminal
	Colour bool // colours may be used
}

// NewStream finds out what w is. Colours are for terminals only, and not when plain is set or the variable NO_COLOR is.
func NewStream(w io.Writer, plain bool, env func(string) string) Stream {
	s := Stream{W: w}
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return s
	}
	if width, _, err := term.GetSize(int(f.Fd())); err == nil {
		s.Width = width
	}
	s.Colour = !plain && env("NO_COLOR") == ""
	return s
}

// IsTerminal reports whether r is a terminal that somebody may type on.
func IsTerminal(r io.Reader) bool {
	f, ok := r.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Style is how text is drawn on a stream with colours.
type Style string

// The styles.
const (
	Bold Style = "\x1b[1m"
	Dim  Style = "\x1b[2m"
	Red  Style = "\x1b[31m"
)

// Paint returns text in a style, or as it is when the stream has no colours.
func (s Stream) Paint(style Style, text string) string {
	if !s.Colour || text == "" {
		return text
	}
	return string(style) + text + "\x1b[0m"
}
