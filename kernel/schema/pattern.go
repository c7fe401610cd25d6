package schema

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf16"
)

var errPattern = errors.New("not an expression that a linear-time engine can run")

// ECMA-262 counts more characters as white space, and as ends of a line, than Go's expressions do.
const (
	ecmaSpace    = `\t\n\v\f\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}`
	ecmaNotSpace = `\x{0}-\x{8}\x{e}-\x{1f}\x{21}-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027}` +
		`\x{202a}-\x{202e}\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{fefe}\x{ff00}-\x{10ffff}`
	ecmaAny = `[^\n\r\x{2028}\x{2029}]`
)

// compilePattern makes an expression with the meaning of ECMA-262 with Unicode.
func compilePattern(source string) (*regexp.Regexp, error) {
	t := &translator{src: source}
	if err := t.run(); err != nil {
		return nil, err
	}
	re, err := regexp.Compile(t.out.String())
	if err != nil {
		return nil, fmt.Errorf("%w: %s", errPattern, quote(source, 100))
	}
	return re, nil
}

// translator rewrites an expression of ECMA-262 for Go.
type translator struct {
	src   string
	pos   int
	out   strings.Builder
	class bool
}

func (t *translator) run() error {
	for t.pos < len(t.src) {
		c := t.src[t.pos]
		switch {
		case c == '\\':
			if err := t.escape(); err != nil {
				return err
			}
			continue
		case t.class && c == ']':
			t.class = false
		case t.class && c == '[':
			t.out.WriteByte('\\')
		case t.class:
		case c == '[':
			if t.openClass() {
				continue
			}
			t.class = true
		case c == '.':
			t.out.WriteString(ecmaAny)
			t.pos++
			continue
		case c == '(' && strings.HasPrefix(t.src[t.pos:], "(?"):
			if err := t.group(); err != nil {
				return err
			}
		}
		t.out.WriteByte(c)
		t.pos++
	}
	return nil
}

// openClass writes the two classes that Go has no words for.
func (t *translator) openClass() bool {
	switch rest := t.src[t.pos:]; {
	case strings.HasPrefix(rest, "[^]"):
		t.out.WriteString(`[\x{0}-\x{10ffff}]`)
		t.pos += 3
	case strings.HasPrefix(rest, "[]"):
		t.out.WriteString(`[^\x{0}-\x{10ffff}]`)
		t.pos += 2
	default:
		return false
	}
	return true
}

// group refuses all groups but plain and named ones.
func (t *translator) group() error {
	rest := t.src[t.pos+2:]
	named := strings.HasPrefix(rest, "<") && !strings.HasPrefix(rest, "<=") && !strings.HasPrefix(rest, "<!")
	if strings.HasPrefix(rest, ":") || named {
		return nil
	}
	return fmt.Errorf("%w: group (?%s", errPattern, quote(firstRunes(rest, 1), 4))
}

func (t *translator) escape() error {
	if t.pos+1 >= len(t.src) {
		return fmt.Errorf("%w: it ends in a backslash", errPattern)
	}
	c := t.src[t.pos+1]
	t.pos += 2
	switch {
	case strings.IndexByte("dDwWtnvfr", c) >= 0, !t.class && (c == 'b' || c == 'B'):
		t.out.WriteByte('\\')
		t.out.WriteByte(c)
	case c == 'b':
		t.out.WriteString(`\x{8}`)
	case c == 's':
		t.set(ecmaSpace)
	case c == 'S':
		t.set(ecmaNotSpace)
	case c == 'u' || c == 'x':
		return t.code(c)
	case c == 'c':
		return t.control()
	case c == '0' && (t.pos >= len(t.src) || t.src[t.pos] < '0' || t.src[t.pos] > '9'):
		t.out.WriteString(`\x{0}`)
	case c == 'p' || c == 'P':
		return t.property(c)
	case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9':
		return fmt.Errorf("%w: \\%c", errPattern, c)
	case c < 0x80:
		t.out.WriteString(`\x{` + strconv.FormatInt(int64(c), 16) + `}`)
	default:
		t.pos-- // the character stands for itself and is copied byte by byte
	}
	return nil
}

func (t *translator) set(ranges string) {
	if t.class {
		t.out.WriteString(ranges)
		return
	}
	t.out.WriteString("[" + ranges + "]")
}

// code reads \xHH, \uHHHH, a pair of those, or \u{H…}.
func (t *translator) code(c byte) error {
	r, ok := rune(0), false
	switch {
	case c == 'x':
		r, ok = t.digits(2)
	case strings.HasPrefix(t.src[t.pos:], "{"):
		if end := strings.IndexByte(t.src[t.pos:], '}'); end > 1 {
			n, err := strconv.ParseUint(t.src[t.pos+1:t.pos+end], 16, 21)
			r, ok = rune(n), err == nil && n <= 0x10ffff
			t.pos += end + 1
		}
	default:
		if r, ok = t.digits(4); ok && utf16.IsSurrogate(r) && strings.HasPrefix(t.src[t.pos:], `\u`) {
			back := t.pos
			t.pos += 2
			low, fine := t.digits(4)
			if pair := utf16.DecodeRune(r, low); fine && pair != '\uFFFD' {
				r = pair
			} else {
				t.pos = back
			}
		}
	}
	if !ok {
		return fmt.Errorf("%w: \\%c without its digits", errPattern, c)
	}
	t.out.WriteString(`\x{` + strconv.FormatInt(int64(r), 16) + `}`)
	return nil
}

func (t *translator) digits(n int) (rune, bool) {
	if t.pos+n > len(t.src) {
		return 0, false
	}
	v, err := strconv.ParseUint(t.src[t.pos:t.pos+n], 16, 32)
	t.pos += n
	return rune(v), err == nil
}

func (t *translator) control() error {
	if t.pos >= len(t.src) {
		return fmt.Errorf("%w: \\c without its letter", errPattern)
	}
	c := t.src[t.pos] | 0x20
	if c < 'a' || c > 'z' {
		return fmt.Errorf("%w: \\c without its letter", errPattern)
	}
	t.pos++
	t.out.WriteString(`\x{` + strconv.FormatInt(int64(c-'a'+1), 16) + `}`)
	return nil
}

// property reads \p{…}: a general category or a script.
func (t *translator) property(c byte) error {
	end := strings.IndexByte(t.src[t.pos:], '}')
	if end < 2 || t.src[t.pos] != '{' {
		return fmt.Errorf("%w: \\%c without its braces", errPattern, c)
	}
	name := t.src[t.pos+1 : t.pos+end]
	t.pos += end + 1
	if key, value, ok := strings.Cut(name, "="); ok {
		switch key {
		case "Script", "sc", "Script_Extensions", "scx", "General_Category", "gc":
			name = value
		default:
			return fmt.Errorf("%w: \\%c{%s}", errPattern, c, quote(name, 40))
		}
	}
	t.out.WriteString(`\` + string(c) + `{` + name + `}`)
	return nil
}
