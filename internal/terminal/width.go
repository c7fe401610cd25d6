package terminal

import (
	"unicode"

	"golang.org/x/text/width"
)

// Width returns how many cells a clean line takes on a terminal.
func Width(text string) int {
	n := 0
	for _, r := range text {
		n += cells(r)
	}
	return n
}

// cells returns the width of one character.
func cells(r rune) int {
	if r < 0x300 {
		return 1
	}
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// fit cuts a clean line to at most n cells; when something is left out the last one is an ellipsis.
func fit(text string, n int) string {
	if Width(text) <= n {
		return text
	}
	used := 0
	for i, r := range text {
		if used+cells(r) > n-1 {
			return text[:i] + "…"
		}
		used += cells(r)
	}
	return text
}
