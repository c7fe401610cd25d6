package rawjson

import (
	"encoding/binary"
	"math/bits"
)

// Skip reads the next value and forgets it.
func (s *Scanner) Skip() {
	if s.err != nil {
		return
	}
	s.skip(s.depth)
	s.comma = true
}

func (s *Scanner) skip(depth int) {
	s.space()
	if s.pos >= len(s.data) || depth > maxDepth {
		s.fail()
		return
	}
	switch c := s.data[s.pos]; {
	case c == '"':
		s.quoted()
	case c == '{' || c == '[':
		s.skipContainer(c, depth)
	case c == 't':
		s.word("true")
	case c == 'f':
		s.word("false")
	case c == 'n':
		s.word("null")
	default:
		s.number()
	}
}

func (s *Scanner) skipContainer(open byte, depth int) {
	closer := open + 2 // '{' and '}', '[' and ']' are two apart
	s.pos++
	s.space()
	if s.pos < len(s.data) && s.data[s.pos] == closer {
		s.pos++
		return
	}
	for s.err == nil {
		if open == '{' {
			s.space()
			s.quoted()
			s.space()
			if s.err != nil || s.pos >= len(s.data) || s.data[s.pos] != ':' {
				break
			}
			s.pos++
		}
		s.skip(depth + 1)
		s.space()
		if s.err != nil || s.pos >= len(s.data) {
			break
		}
		c := s.data[s.pos]
		s.pos++
		if c == closer {
			return
		}
		if c != ',' {
			break
		}
	}
	s.fail()
}

// quoted reads a string with its quotes and returns what is between them.
func (s *Scanner) quoted() (raw []byte, escaped bool) {
	if s.pos >= len(s.data) || s.data[s.pos] != '"' {
		s.fail()
		return nil, false
	}
	s.comma = true
	start := s.pos + 1
	for i := start; ; {
		i += plain(s.data[i:])
		if i >= len(s.data) {
			break
		}
		if s.data[i] == '"' {
			s.pos = i + 1
			return s.data[start:i], escaped
		}
		escaped = true
		if i += 2; i > len(s.data) { // the byte after a backslash never ends the string
			break
		}
	}
	s.fail()
	return nil, false
}

// plain returns the number of bytes before the first quote or backslash. It looks at eight bytes at a time, because most
// strings are names of a word or two: too short for a search, and too long for a loop.
func plain(b []byte) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; i+8 <= len(b); i += 8 {
		w := binary.LittleEndian.Uint64(b[i:])
		quote, slash := w^(ones*'"'), w^(ones*'\\')
		if found := ((quote-ones) & ^quote | (slash-ones) & ^slash) & highs; found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	for ; i < len(b); i++ {
		if b[i] == '"' || b[i] == '\\' {
			break
		}
	}
	return i
}

func (s *Scanner) word(w string) {
	if len(s.data)-s.pos < len(w) || string(s.data[s.pos:s.pos+len(w)]) != w {
		s.fail()
		return
	}
	s.pos += len(w)
}

func (s *Scanner) number() {
	start := s.pos
	if s.pos < len(s.data) && s.data[s.pos] == '-' {
		s.pos++
	}
	whole := s.digits()
	if whole == 0 || whole > 1 && s.data[s.pos-whole] == '0' {
		s.pos = start
		s.fail()
		return
	}
	if s.pos < len(s.data) && s.data[s.pos] == '.' {
		s.pos++
		if s.digits() == 0 {
			s.fail()
		}
	}
	if s.pos < len(s.data) && (s.data[s.pos] == 'e' || s.data[s.pos] == 'E') {
		s.pos++
		if s.pos < len(s.data) && (s.data[s.pos] == '+' || s.data[s.pos] == '-') {
			s.pos++
		}
		if s.digits() == 0 {
			s.fail()
		}
	}
}

func (s *Scanner) digits() int {
	start := s.pos
	for s.pos < len(s.data) && s.data[s.pos] >= '0' && s.data[s.pos] <= '9' {
		s.pos++
	}
	return s.pos - start
}

func (s *Scanner) space() {
	if s.pos < len(s.data) && s.data[s.pos] > ' ' {
		return
	}
	for s.pos < len(s.data) {
		switch s.data[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return
		}
	}
}
