package statusline

import (
	"strings"

	"github.com/crystalkernel/crystal/internal/terminal"
)

// Limits of what is shown of a field, in characters.
const (
	maxText        = 64
	maxDescription = 80
)

// clean makes the one line of a text that is shown: escape sequences and control characters go away, each line end and
// tab is a space, and what is too long is cut. A blank text is no text.
func clean(text string) string {
	text = terminal.Clean(strings.ReplaceAll(text, "\r", "\n"))
	if strings.TrimSpace(text) == "" {
		return ""
	}
	n := 0
	for i := range text {
		if n == maxText {
			text = text[:i]
			break
		}
		n++
	}
	return strings.Map(func(r rune) rune {
		switch r {
		case '\n', '\t', '\u2028', '\u2029':
			return ' '
		}
		return r
	}, text)
}
