package rawjson

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// unescape appends the text that raw, the inside of a JSON string, stands for. What is not a legal escape stands for
// itself; halves of surrogate pairs and invalid UTF-8 become U+FFFD.
func unescape(dst, raw []byte) []byte {
	for len(raw) > 0 {
		n := bytes.IndexByte(raw, '\\')
		if n < 0 {
			n = len(raw)
		}
		dst = appendValid(dst, raw[:n])
		raw = raw[n:]
		if len(raw) < 2 {
			break
		}
		whole, c := raw, raw[1]
		raw = raw[2:]
		switch c {
		case 'b':
			dst = append(dst, '\b')
		case 'f':
			dst = append(dst, '\f')
		case 'n':
			dst = append(dst, '\n')
		case 'r':
			dst = append(dst, '\r')
		case 't':
			dst = append(dst, '\t')
		case '"', '\\', '/':
			dst = append(dst, c)
		case 'u':
			r, ok := hex4(raw)
			if !ok {
				dst = append(dst, "\\u"...)
				continue
			}
			raw = raw[4:]
			if utf16.IsSurrogate(r) {
				r, raw = pair(r, raw)
			}
			dst = utf8.AppendRune(dst, r)
		default:
			// A character of several bytes has to stay whole: only the backslash is taken.
			dst = append(dst, '\\')
			raw = whole[1:]
		}
	}
	return dst
}

// pair completes the surrogate high with the escape at the front of raw, if that is its other half.
func pair(high rune, raw []byte) (rune, []byte) {
	if len(raw) >= 6 && raw[0] == '\\' && raw[1] == 'u' {
		if low, ok := hex4(raw[2:]); ok {
			if r := utf16.DecodeRune(high, low); r != utf8.RuneError {
				return r, raw[6:]
			}
		}
	}
	return utf8.RuneError, raw
}

func hex4(b []byte) (rune, bool) {
	if len(b) < 4 {
		return 0, false
	}
	var r rune
	for _, c := range b[:4] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

func appendValid(dst, b []byte) []byte {
	if utf8.Valid(b) {
		return append(dst, b...)
	}
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		dst = utf8.AppendRune(dst, r)
		b = b[n:]
	}
	return dst
}
