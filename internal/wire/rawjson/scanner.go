package rawjson

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"
)

// ErrSyntax is matched by every error of a [Scanner].
var ErrSyntax = errors.New("not JSON")

// maxDepth bounds nesting, because skipping a value recurses.
const maxDepth = 512

// Kind is the kind of a JSON value.
type Kind uint8

// The kinds of values.
const (
	Invalid Kind = iota
	Object
	Array
	String
	Number
	Bool
	Null
)

// Scanner reads one JSON value from front to back. The zero value reads nothing; Reset gives it a text. After the first
// error every method returns zero values. It is not safe for use by several goroutines.
type Scanner struct {
	data    []byte
	pos     int
	depth   int
	comma   bool // a value was read: a comma or the end of the container is next
	nothing bool // what was entered has nothing to walk
	closers [maxDepth / 8]byte
	key     []byte
	scratch []byte
	err     error
}

// Reset starts anew with data, which must not be changed while the scanner reads it.
func (s *Scanner) Reset(data []byte) {
	s.data, s.pos, s.depth, s.comma, s.nothing, s.key, s.err = data, 0, 0, false, false, nil, nil
}

// Err returns the first error, which is [ErrSyntax].
func (s *Scanner) Err() error { return s.err }

// End checks that nothing but white space follows and returns the first error.
func (s *Scanner) End() error {
	if s.err == nil {
		s.space()
		if s.pos < len(s.data) || s.depth > 0 || !s.comma {
			s.fail()
		}
	}
	return s.err
}

// Kind looks at the next value without reading it.
func (s *Scanner) Kind() Kind {
	if s.err != nil {
		return Invalid
	}
	s.space()
	if s.pos >= len(s.data) {
		return Invalid
	}
	switch c := s.data[s.pos]; {
	case c == '{':
		return Object
	case c == '[':
		return Array
	case c == '"':
		return String
	case c == '-' || c >= '0' && c <= '9':
		return Number
	case c == 't' || c == 'f':
		return Bool
	case c == 'n':
		return Null
	}
	return Invalid
}

// Object enters the next value, whose members [Scanner.Next] then walks. A value that is no object is skipped and has no
// members.
func (s *Scanner) Object() { s.enter('{') }

// Array enters the next value, whose elements [Scanner.Next] then walks. A value that is no array is skipped and has no
// elements.
func (s *Scanner) Array() { s.enter('[') }

func (s *Scanner) enter(open byte) {
	if s.err != nil {
		return
	}
	s.space()
	if s.pos >= len(s.data) || s.data[s.pos] != open {
		s.Skip()
		s.nothing = true
		return
	}
	if s.depth >= maxDepth {
		s.fail()
		return
	}
	bit := byte(1) << (s.depth & 7)
	if open == '{' {
		s.closers[s.depth>>3] |= bit
	} else {
		s.closers[s.depth>>3] &^= bit
	}
	s.pos++
	s.depth++
	s.comma = false
}

// Next moves to the next member or element of the innermost container that was entered, or leaves that container and
// reports false. Each value must be read or skipped before Next is called again.
func (s *Scanner) Next() bool {
	if s.nothing {
		s.nothing = false
		return false
	}
	if s.err != nil || s.depth == 0 {
		return false
	}
	top := s.depth - 1
	isObject := s.closers[top>>3]&(1<<(top&7)) != 0
	closer := byte(']')
	if isObject {
		closer = '}'
	}
	s.space()
	if s.pos >= len(s.data) {
		s.fail()
		return false
	}
	if s.data[s.pos] == closer {
		s.pos++
		s.depth--
		s.comma = true
		return false
	}
	if s.comma {
		if s.data[s.pos] != ',' {
			s.fail()
			return false
		}
		s.pos++
		s.space()
		s.comma = false
	}
	if !isObject {
		if s.pos < len(s.data) && s.data[s.pos] == ']' {
			s.fail()
			return false
		}
		return true
	}
	raw, escaped := s.quoted()
	s.space()
	if s.err != nil || s.pos >= len(s.data) || s.data[s.pos] != ':' {
		s.fail()
		return false
	}
	s.pos++
	s.comma = false
	s.key = raw
	if escaped {
		s.key = unescape(nil, raw)
	}
	return true
}

// Key is the name of the member that Next moved to. It is valid until the next call of Next.
func (s *Scanner) Key() []byte { return s.key }

// Text reads a string. Any other value is skipped and reads as blank.
func (s *Scanner) Text() string { return string(s.Bytes()) }

// Bytes reads a string without making one: the bytes are valid until the next call of the scanner. Any other value is
// skipped and reads as nil. Invalid UTF-8 and halves of surrogate pairs become U+FFFD.
func (s *Scanner) Bytes() []byte {
	if s.err != nil {
		return nil
	}
	s.space()
	if s.pos >= len(s.data) || s.data[s.pos] != '"' {
		s.Skip()
		return nil
	}
	raw, escaped := s.quoted()
	if s.err != nil {
		return nil
	}
	if escaped || !utf8.Valid(raw) {
		s.scratch = unescape(s.scratch[:0], raw)
		return s.scratch
	}
	return raw
}

// Int reads a number, cut to an integer. Any other value is skipped and reads as 0 and false.
func (s *Scanner) Int() (int, bool) {
	if s.Kind() != Number {
		s.Skip()
		return 0, false
	}
	raw := s.Raw()
	if n, err := strconv.Atoi(string(raw)); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || math.IsNaN(f) || f > math.MaxInt32 || f < math.MinInt32 {
		return 0, false
	}
	return int(f), true
}

// Bool reads true or false. Any other value is skipped and reads as false.
func (s *Scanner) Bool() bool { return string(s.Raw()) == "true" }

// Raw reads the next value and returns its text, which is part of the data given to Reset.
func (s *Scanner) Raw() []byte {
	if s.err != nil {
		return nil
	}
	s.space()
	start := s.pos
	s.Skip()
	if s.err != nil {
		return nil
	}
	return s.data[start:s.pos]
}

func (s *Scanner) fail() {
	if s.err == nil {
		s.err = fmt.Errorf("%w: at byte %d of %d", ErrSyntax, s.pos, len(s.data))
	}
}

// Valid reports whether data is one JSON value with nothing but white space around it.
func Valid(data []byte) bool {
	var s Scanner
	s.Reset(data)
	s.Skip()
	return s.End() == nil
}
