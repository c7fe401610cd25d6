package schema

import (
	"strings"
	"unicode/utf8"
)

// kind is the kind of a JSON value.
type kind uint8

const (
	null kind = iota
	boolFalse
	boolTrue
	number
	text
	array
	object
)

// token is one value of a tape. An object is followed by its members, key before value; an array by its items.
type token struct {
	kind       kind
	odd        bool  // text: has escapes; number: has a fraction or an exponent
	start, end int32 // bytes of the source
	next       int32 // index of the token behind the value
	count      int32 // members or items
}

// tape is a parsed JSON text: the source and its values in order of appearance, without any copy of them. A tape can be
// parsed into again.
type tape struct {
	src     string
	tok     []token
	odd     bool // a number has a fraction or an exponent
	maximum int  // nesting
	failure Reason
	at      int
}

// parse reads src, which must hold one value nested at most depth deep. It returns a blank reason when that is so, and
// else the reason and its offset. The place of the first token is always 0.
func (t *tape) parse(src string, depth int) (Reason, int) {
	t.src, t.tok, t.odd, t.maximum, t.failure = src, t.tok[:0], false, depth, ""
	pos, ok := t.value(skip(src, 0), 1)
	if !ok {
		return t.failure, t.at
	}
	if rest := skip(src, pos); rest < len(src) {
		if t.tok[0].kind == object {
			return TrailingText, pos
		}
		return NotJSON, rest
	}
	return "", 0
}

func skip(s string, i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '\n' || s[i] == '\t' || s[i] == '\r') {
		i++
	}
	return i
}

func (t *tape) fail(r Reason, at int) (int, bool) {
	t.failure, t.at = r, at
	return 0, false
}

func (t *tape) value(pos, depth int) (int, bool) {
	if pos >= len(t.src) {
		return t.fail(NotJSON, len(t.src))
	}
	switch c := t.src[pos]; {
	case c == '"':
		return t.text(pos)
	case c == '{':
		return t.object(pos, depth)
	case c == '[':
		return t.array(pos, depth)
	case c == '-' || c >= '0' && c <= '9':
		return t.number(pos)
	case c == 't':
		return t.word(pos, "true", boolTrue)
	case c == 'f':
		return t.word(pos, "false", boolFalse)
	case c == 'n':
		return t.word(pos, "null", null)
	}
	return t.fail(NotJSON, pos)
}

func (t *tape) add(k kind, odd bool, start, end int) {
	t.tok = append(t.tok, token{kind: k, odd: odd, start: int32(start), end: int32(end), next: int32(len(t.tok) + 1)})
}

func (t *tape) word(pos int, want string, k kind) (int, bool) {
	for i := range len(want) {
		if pos+i >= len(t.src) || t.src[pos+i] != want[i] {
			return t.fail(NotJSON, pos+i)
		}
	}
	t.add(k, false, pos, pos+len(want))
	return pos + len(want), true
}

func (t *tape) number(pos int) (int, bool) {
	s, i := t.src, pos
	digits := func() bool {
		from := i
		for i < len(s) && s[i] >= '0' && s[i] <= '9' {
			i++
		}
		return i > from
	}
	if s[i] == '-' {
		i++
	}
	if i < len(s) && s[i] == '0' {
		i++
	} else if !digits() {
		return t.fail(NotJSON, i)
	}
	odd := false
	if i < len(s) && s[i] == '.' {
		odd = true
		if i++; !digits() {
			return t.fail(NotJSON, i)
		}
	}
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		odd = true
		if i++; i < len(s) && (s[i] == '+' || s[i] == '-') {
			i++
		}
		if !digits() {
			return t.fail(NotJSON, i)
		}
	}
	t.odd = t.odd || odd
	t.add(number, odd, pos, i)
	return i, true
}

func (t *tape) text(pos int) (int, bool) {
	s, i, odd := t.src, pos+1, false
	for i < len(s) {
		switch c := s[i]; {
		case c == '"':
			t.add(text, odd, pos, i+1)
			return i + 1, true
		case c < 0x20:
			return t.fail(NotJSON, i)
		case c == '\\':
			odd = true
			if i++; i >= len(s) {
				return t.fail(NotJSON, len(s))
			}
			if s[i] == 'u' {
				for n := 0; n < 4; n++ {
					if i++; i >= len(s) || hex(s[i]) < 0 {
						return t.fail(NotJSON, i)
					}
				}
			} else if strings.IndexByte(`"\/bfnrt`, s[i]) < 0 {
				return t.fail(NotJSON, i)
			}
			i++
		case c < utf8.RuneSelf:
			i++
		default:
			r, size := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && size == 1 {
				return t.fail(NotJSON, i)
			}
			i += size
		}
	}
	return t.fail(NotJSON, len(s))
}

func (t *tape) array(pos, depth int) (int, bool) {
	if depth > t.maximum {
		return t.fail(TooDeep, pos)
	}
	self := len(t.tok)
	t.add(array, false, pos, 0)
	i := skip(t.src, pos+1)
	n := int32(0)
	if i < len(t.src) && t.src[i] == ']' {
		return t.close(self, i+1, n)
	}
	for {
		var ok bool
		if i, ok = t.value(i, depth+1); !ok {
			return 0, false
		}
		n++
		i = skip(t.src, i)
		if i < len(t.src) && t.src[i] == ',' {
			i = skip(t.src, i+1)
			continue
		}
		if i < len(t.src) && t.src[i] == ']' {
			return t.close(self, i+1, n)
		}
		return t.fail(NotJSON, i)
	}
}

func (t *tape) object(pos, depth int) (int, bool) {
	if depth > t.maximum {
		return t.fail(TooDeep, pos)
	}
	self := len(t.tok)
	t.add(object, false, pos, 0)
	i := skip(t.src, pos+1)
	if i < len(t.src) && t.src[i] == '}' {
		return t.close(self, i+1, 0)
	}
	var seen map[string]struct{}
	for n := int32(0); ; {
		if i >= len(t.src) || t.src[i] != '"' {
			return t.fail(NotJSON, i)
		}
		key, from, ok := len(t.tok), i, false
		if i, ok = t.text(i); !ok {
			return 0, false
		}
		if seen, ok = t.unseen(self, key, n, seen); !ok {
			return t.fail(DuplicateKey, from)
		}
		if i = skip(t.src, i); i >= len(t.src) || t.src[i] != ':' {
			return t.fail(NotJSON, i)
		}
		if i, ok = t.value(skip(t.src, i+1), depth+1); !ok {
			return 0, false
		}
		n++
		i = skip(t.src, i)
		if i < len(t.src) && t.src[i] == ',' {
			i = skip(t.src, i+1)
			continue
		}
		if i < len(t.src) && t.src[i] == '}' {
			return t.close(self, i+1, n)
		}
		return t.fail(NotJSON, i)
	}
}

// unseen reports whether the key is the first of its name in the object that already has n members. From 16 members on
// it keeps a set.
func (t *tape) unseen(self, key int, n int32, seen map[string]struct{}) (map[string]struct{}, bool) {
	name := t.str(int32(key))
	if n < 16 {
		for k := int32(self + 1); k < int32(key); k = t.tok[k+1].next {
			if t.str(k) == name {
				return seen, false
			}
		}
		return seen, true
	}
	if seen == nil {
		seen = make(map[string]struct{}, 2*n)
		for k := int32(self + 1); k < int32(key); k = t.tok[k+1].next {
			seen[t.str(k)] = struct{}{}
		}
	}
	before := len(seen)
	seen[name] = struct{}{}
	return seen, len(seen) > before
}

func (t *tape) close(self, end int, n int32) (int, bool) {
	tok := &t.tok[self]
	tok.end, tok.count, tok.next = int32(end), n, int32(len(t.tok))
	return end, true
}

// raw returns the source of a value.
func (t *tape) raw(i int32) string { return t.src[t.tok[i].start:t.tok[i].end] }

// str returns the content of a text. It allocates only when there are escapes.
func (t *tape) str(i int32) string {
	tok := &t.tok[i]
	s := t.src[tok.start+1 : tok.end-1]
	if tok.odd {
		return unescape(s)
	}
	return s
}

// member returns the value of a key; -1 when the value is no object or has no such key.
func (t *tape) member(i int32, key string) int32 {
	if t.tok[i].kind != object {
		return -1
	}
	for k := i + 1; k < t.tok[i].next; k = t.tok[k+1].next {
		if t.str(k) == key {
			return k + 1
		}
	}
	return -1
}

// item returns the nth item; -1 when the value is no array or is shorter.
func (t *tape) item(i int32, n int) int32 {
	if t.tok[i].kind != array || n < 0 || n >= int(t.tok[i].count) {
		return -1
	}
	k := i + 1
	for ; n > 0; n-- {
		k = t.tok[k].next
	}
	return k
}
