package schema

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// firstRunes returns the first n characters of s.
func firstRunes(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// quote returns at most n characters of s, control characters and the like escaped, with an ellipsis when it was cut.
func quote(s string, n int) string {
	var b strings.Builder
	left := n
	for i, r := range s {
		piece := ""
		switch {
		case r == '\\':
			piece = `\\`
		case r == utf8.RuneError, !unicode.IsPrint(r):
			piece = strconv.QuoteRuneToASCII(r)
			piece = piece[1 : len(piece)-1]
		default:
			piece = s[i : i+utf8.RuneLen(r)]
		}
		size := utf8.RuneCountInString(piece)
		if size > left || size == left && i+utf8.RuneLen(r) < len(s) {
			b.WriteString("…")
			break
		}
		b.WriteString(piece)
		left -= size
	}
	return b.String()
}

// quoter bounds what is quoted from the arguments of one call.
type quoter struct{ left int }

// Limits of what is quoted from arguments, in characters.
const (
	quoteOne = 200
	quoteAll = 800
)

func (q *quoter) quote(s string) string {
	out := quote(s, min(quoteOne, q.left))
	q.left -= utf8.RuneCountInString(out)
	q.left = max(q.left, 0)
	return out
}
