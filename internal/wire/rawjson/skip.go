package rawjson

import "bytes"

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
	i := start
	// Most strings are names and short words: looking at each byte is faster there than searching.
	for end := min(start+short, len(s.data)); i < end; i++ {
		switch s.data[i] {
		case '"':
			s.pos = i + 1
			return s.data[start:i], false
		case '\\':
			return s.long(start, i)
		}
	}
	return s.long(start, i)
}

// short is the length up to which a string is read byte by byte.
const short = 32

// long reads on at i in the string that begins at start.
func (s *Scanner) long(start, i int) (raw []byte, escaped bool) {
	for i <= len(s.data) {
		n := bytes.IndexByte(s.data[i:], '"')
		if n < 0 {
			break
		}
		end := i + n
		b := bytes.IndexByte(s.data[i:end], '\\')
		if b < 0 {
			s.pos = end + 1
			return s.data[start:end], escaped
		}
		escaped = true
		i += b + 2 // the byte after a backslash never ends the string
	}
	s.fail()
	return nil, false
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
	for s.pos < len(s.data) {
		switch s.data[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return
		}
	}
}
