package terminal

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Clean removes escape sequences and control characters other than line feeds and tabs. CRLF becomes LF. Bytes that are no
// UTF-8 become U+FFFD. A sequence that is never ended reaches to the end of its line.
func Clean(text string) string {
	if plain(text) {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	for len(text) > 0 {
		if n := escape(text); n > 0 {
			text = text[n:]
			continue
		}
		r, size := utf8.DecodeRuneInString(text)
		if r == '\n' || r == '\t' || !unicode.IsControl(r) {
			b.WriteRune(r)
		}
		text = text[size:]
	}
	return b.String()
}

// Line makes one clean line of text: what Clean removes is removed, line breaks and tabs become blanks, and at most max
// characters are kept, the last of them an ellipsis when something was cut.
func Line(text string, max int) string {
	text = strings.Map(func(r rune) rune {
		switch r {
		case '\n', '\t', '\u2028', '\u2029':
			return ' '
		}
		return r
	}, Clean(text))
	return Cut(strings.TrimSpace(text), max)
}

// Cut returns at most max characters of text; when something is left out the last one is an ellipsis.
func Cut(text string, max int) string {
	if len(text) <= max || utf8.RuneCountInString(text) <= max {
		return text
	}
	n := 0
	for i := range text {
		if n++; n == max {
			return text[:i] + "…"
		}
	}
	return ""
}

// plain reports whether there is nothing to clean.
func plain(text string) bool {
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\n', c == '\t':
		case c < ' ', c == 0x7f:
			return false
		case c >= utf8.RuneSelf:
			return plainWide(text[i:])
		}
	}
	return true
}

func plainWide(text string) bool {
	for i, r := range text {
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(text[i:]); size == 1 {
				return false
			}
		}
		if r != '\n' && r != '\t' && unicode.IsControl(r) {
			return false
		}
	}
	return true
}

// The introducers of sequences, as they follow an escape character; each also exists as one control character of its own.
const (
	esc = '\x1b'
	csi = '\u009b'
	osc = '\u009d'
	dcs = '\u0090'
	sos = '\u0098'
	pm  = '\u009e'
	apc = '\u009f'
	st  = '\u009c'
)

// escape returns the length of the escape sequence that text begins with, or 0.
func escape(text string) int {
	r, size := utf8.DecodeRuneInString(text)
	rest := text[size:]
	switch r {
	case csi:
		return size + control(rest)
	case osc, dcs, sos, pm, apc:
		return size + str(rest)
	case esc:
	default:
		return 0
	}
	if rest == "" {
		return size
	}
	switch c := rest[0]; {
	case c == '[':
		return size + 1 + control(rest[1:])
	case strings.IndexByte("]PX^_", c) >= 0:
		return size + 1 + str(rest[1:])
	case c >= 0x20 && c <= 0x2f:
		// Intermediates, then one final character.
		n := 0
		for n < len(rest) && rest[n] >= 0x20 && rest[n] <= 0x2f {
			n++
		}
		if n < len(rest) && rest[n] >= 0x30 && rest[n] <= 0x7e {
			n++
		}
		return size + n
	case c >= 0x30 && c <= 0x7e:
		return size + 1
	}
	return size
}

// control returns the length of what follows a control sequence introducer: parameters, intermediates, final character.
func control(text string) int {
	n := 0
	for n < len(text) && text[n] >= 0x20 && text[n] <= 0x3f {
		n++
	}
	if n < len(text) && text[n] >= 0x40 && text[n] <= 0x7e {
		n++
	}
	return n
}

// str returns the length of what follows the introducer of a string: everything up to its end, which is a bell or a string
// terminator, or up to the end of the line when it is never ended.
func str(text string) int {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == '\a', r == st:
			return i + size
		case r == esc && strings.HasPrefix(text[i+1:], `\`):
			return i + 2
		case r == esc, r == '\n':
			return i
		}
		i += size
	}
	return len(text)
}
