package threadlog

import (
	"strings"
	"unicode"
)

// Longest titles, in characters.
const (
	titleLength      = 80
	firstTitleLength = 60
)

// CleanTitle makes a title of a text: without escape sequences and control characters, one line, at most 80 characters.
func CleanTitle(text string) string { return oneLine(text, titleLength) }

// firstTitle makes the title of a thread from its first user message.
func firstTitle(text string) string {
	text = strings.TrimSpace(PlainMarkers(text))
	if i := strings.IndexAny(text, "\r\n"); i >= 0 {
		text = text[:i]
	}
	return oneLine(text, firstTitleLength)
}

func oneLine(text string, limit int) string {
	text = strings.Join(strings.Fields(clean(strings.ToValidUTF8(text, "\uFFFD"))), " ")
	n := 0
	for i := range text {
		if n == limit {
			return strings.TrimSpace(text[:i])
		}
		n++
	}
	return text
}

// clean removes escape sequences, and control characters other than LF and TAB.
func clean(text string) string {
	if !strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }) {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	runes := []rune(text)
	for i := 0; i < len(runes); i++ {
		switch r := runes[i]; {
		case r == 0x1b || r == 0x9b || r == 0x9d || r == 0x90:
			i = escapeEnd(runes, i)
		case unicode.IsControl(r) && r != '\n' && r != '\t':
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// escapeEnd returns the index of the last character of the escape sequence that begins at i. A sequence that never ends
// takes its introducer alone.
func escapeEnd(text []rune, i int) int {
	kind, body := text[i], i+1
	if kind == 0x1b {
		if body == len(text) {
			return i
		}
		kind, body = text[body], body+1
	}
	switch kind {
	case '[', 0x9b: // control sequence: parameters, then one final character
		for j := body; j < len(text); j++ {
			if text[j] >= 0x40 && text[j] <= 0x7e {
				return j
			}
			if text[j] < 0x20 || text[j] > 0x7e {
				break
			}
		}
	case ' ', '!', '"', '#', '$', '%', '&', '\'', '(', ')', '*', '+', ',', '-', '.', '/': // one more character
		return min(body, len(text)-1)
	case ']', 0x9d, 'P', 0x90, '_', '^', 'X': // text up to a terminator
		for j := body; j < len(text); j++ {
			if text[j] == 0x07 || text[j] == 0x9c {
				return j
			}
			if text[j] == 0x1b && j+1 < len(text) && text[j+1] == '\\' {
				return j + 1
			}
		}
	}
	return body - 1
}
