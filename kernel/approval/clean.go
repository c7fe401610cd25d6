package approval

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// longestBlank is how many spaces in a row are shown as they are.
const longestBlank = 8

// Clean makes text safe to show to somebody who decides by it: control characters but LF and TAB are shown as \x1b,
// invisible and direction-changing characters as \u{202e}, and more than eight spaces in a row as their number. A
// text without any of these comes back unchanged.
func Clean(text string) string {
	if plain(text) {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == ' ':
			n := 1
			for i+n < len(text) && text[i+n] == ' ' {
				n++
			}
			size = n
			if n <= longestBlank {
				b.WriteString(text[i : i+n])
			} else {
				fmt.Fprintf(&b, " [%d spaces] ", n)
			}
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case r == '\n' || r == '\t':
			b.WriteRune(r)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\x%02x`, r)
		case hidden(r):
			fmt.Fprintf(&b, `\u{%04x}`, r)
		default:
			b.WriteRune(r)
		}
		i += size
	}
	return b.String()
}

// plain reports whether Clean would change nothing, for the usual case of ASCII.
func plain(text string) bool {
	blanks := 0
	for i := range len(text) {
		c := text[i]
		if c == ' ' {
			if blanks++; blanks > longestBlank {
				return false
			}
			continue
		}
		blanks = 0
		if c >= utf8.RuneSelf || c == 0x7f || c < ' ' && c != '\n' && c != '\t' {
			return false
		}
	}
	return true
}

// hidden reports whether a character can't be told from nothing or from a space, or changes the order of its neighbours.
func hidden(r rune) bool {
	switch {
	case unicode.Is(unicode.C, r), unicode.Is(unicode.Zl, r), unicode.Is(unicode.Zp, r):
		return true
	case r != ' ' && unicode.Is(unicode.Zs, r):
		return true
	case unicode.Is(unicode.Variation_Selector, r), unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r):
		return true
	}
	return false
}
