package rawjson

import (
	"bytes"
	"encoding/base64"
	"math"
	"strconv"
	"unicode/utf8"
)

const hexDigits = "0123456789abcdef"

// AppendString appends text as a JSON string. Invalid UTF-8 becomes U+FFFD.
func AppendString(dst []byte, text string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(text); {
		c := text[i]
		if c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(text[i:])
			if r == utf8.RuneError && n == 1 {
				dst = append(dst, text[start:i]...)
				dst = append(dst, "\uFFFD"...)
				i++
				start = i
				continue
			}
			i += n
			continue
		}
		dst = append(dst, text[start:i]...)
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
		i++
		start = i
	}
	dst = append(dst, text[start:]...)
	return append(dst, '"')
}

// AppendBase64 appends data as a JSON string in standard base64, behind prefix, which must need no escapes.
func AppendBase64(dst []byte, prefix string, data []byte) []byte {
	dst = append(dst, '"')
	dst = append(dst, prefix...)
	dst = base64.StdEncoding.AppendEncode(dst, data)
	return append(dst, '"')
}

// AppendInt appends n.
func AppendInt(dst []byte, n int) []byte { return strconv.AppendInt(dst, int64(n), 10) }

// AppendFloat appends f in its shortest form; what is no number becomes 0.
func AppendFloat(dst []byte, f float64) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		f = 0
	}
	return strconv.AppendFloat(dst, f, 'f', -1, 64)
}

// Close ends an object or array whose members each end with a comma; closer is the bracket.
func Close(dst []byte, closer byte) []byte {
	if dst[len(dst)-1] == ',' {
		dst = dst[:len(dst)-1]
	}
	return append(dst, closer)
}

// AppendValid appends raw, a JSON value, so that every reader accepts it: escapes that are half of a surrogate pair
// become \ufffd and invalid UTF-8 becomes U+FFFD. All else stays as it is.
func AppendValid(dst, raw []byte) []byte {
	if !bytes.Contains(raw, []byte(`\u`)) {
		return appendValid(dst, raw)
	}
	for len(raw) > 0 {
		n := bytes.IndexByte(raw, '\\')
		if n < 0 || n+1 >= len(raw) {
			break
		}
		dst = appendValid(dst, raw[:n])
		raw = raw[n:]
		if raw[1] != 'u' {
			dst = append(dst, raw[:2]...)
			raw = raw[2:]
			continue
		}
		r, ok := hex4(raw[2:])
		if !ok {
			dst = append(dst, raw[:2]...)
			raw = raw[2:]
			continue
		}
		rest := raw[6:]
		if r >= 0xD800 && r <= 0xDFFF {
			whole, after := pair(r, rest)
			if whole == utf8.RuneError {
				dst = append(dst, `\ufffd`...)
				raw = rest
				continue
			}
			rest = after
		}
		dst = append(dst, raw[:len(raw)-len(rest)]...)
		raw = rest
	}
	return appendValid(dst, raw)
}
