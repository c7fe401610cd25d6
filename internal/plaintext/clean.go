package plaintext

import "unicode/utf8"

// Clean makes text fit for the model: valid UTF-8, without escape sequences and without control characters other than LF and
// TAB. Of a line that was overwritten by a bare CR it keeps what was written last.
func Clean(text string) string {
	if Tidy(text) {
		return text
	}
	out := make([]byte, 0, len(text))
	line := 0 // where the present line starts in out
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case c == 0x1b:
			i += sequence(text[i:])
			continue
		case c == '\n':
			out = append(out, c)
			line = len(out)
		case c == '\r':
			for i < len(text) && text[i] == '\r' {
				i++
			}
			if i < len(text) && text[i] != '\n' {
				out = out[:line]
			}
			continue
		case c < ' ' && c != '\t' || c == 0x7f:
		case c < utf8.RuneSelf:
			out = append(out, c)
		default:
			r, size := utf8.DecodeRuneInString(text[i:])
			if r > 0x9f { // below are control characters; what is no character has become U+FFFD
				out = utf8.AppendRune(out, r)
			}
			i += size
			continue
		}
		i++
	}
	return string(out)
}

// Tidy reports whether Clean would change nothing.
func Tidy[T string | []byte](text T) bool {
	for i := range len(text) {
		c := text[i]
		if c < ' ' && c != '\n' && c != '\t' || c == 0x7f {
			return false
		}
		if c >= utf8.RuneSelf {
			return tidyWide(string(text[i:]))
		}
	}
	return true
}

func tidyWide(text string) bool {
	for i, r := range text {
		switch {
		case r < ' ' && r != '\n' && r != '\t', r >= 0x7f && r <= 0x9f:
			return false
		case r == utf8.RuneError:
			if _, size := utf8.DecodeRuneInString(text[i:]); size == 1 {
				return false
			}
		}
	}
	return true
}

// sequence returns the length of the escape sequence at the start of s. One that is not ended reaches to the end of its line.
func sequence(s string) int {
	if len(s) < 2 {
		return len(s)
	}
	switch c := s[1]; {
	case c == '[':
		for i := 2; i < len(s); i++ {
			if s[i] >= 0x40 && s[i] <= 0x7e {
				return i + 1
			}
			if s[i] < 0x20 || s[i] > 0x7e {
				return i
			}
		}
		return len(s)
	case c == ']' || c == 'P' || c == 'X' || c == '^' || c == '_':
		for i := 2; i < len(s); i++ {
			switch {
			case s[i] == 0x07:
				return i + 1
			case s[i] == 0x1b && i+1 < len(s) && s[i+1] == '\\':
				return i + 2
			case s[i] == '\n':
				return i
			}
		}
		return len(s)
	case c >= 0x20 && c <= 0x2f:
		for i := 2; i < len(s); i++ {
			if s[i] < 0x20 || s[i] > 0x2f {
				if s[i] >= 0x30 && s[i] <= 0x7e {
					return i + 1
				}
				return i
			}
		}
		return len(s)
	case c >= 0x30 && c <= 0x7e:
		return 2
	}
	return 1
}
