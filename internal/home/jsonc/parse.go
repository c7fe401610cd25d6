package jsonc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"
)

// MaxSize is the size of the largest file that is read.
const MaxSize = 16 << 20

// maxDepth bounds nesting, because the parser is recursive and a stack that overflows ends the process.
const maxDepth = 200

var bom = []byte("\xef\xbb\xbf")

// SyntaxError says where a file stops being a JSON object. It never quotes more than one character of the file, because
// the file may hold a key.
type SyntaxError struct {
	File   string
	Line   int // from 1
	Column int // from 1, in characters
	Reason string
}

// Error names file, line, column and reason.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Reason)
}

// Read parses the file at path. A file that is missing gives an error that is fs.ErrNotExist, one that is no JSON object
// a *[SyntaxError].
func Read(path string) (*Object, error) {
	text, err := readFile(path)
	if err != nil {
		return nil, err
	}
	return Parse(path, text)
}

// readFile reads a file of bounded size.
func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, MaxSize+1))
	if err != nil {
		return nil, err
	}
	if len(text) > MaxSize {
		return nil, &SyntaxError{File: path, Line: 1, Column: 1, Reason: fmt.Sprintf("the file is larger than %d bytes", MaxSize)}
	}
	return text, nil
}

// Parse parses text; name stands for the file in errors. text must not be changed afterwards.
func Parse(name string, text []byte) (*Object, error) {
	root, err := parse(name, text)
	if err != nil {
		return nil, err
	}
	return newObject(root.Value.(*hujson.Object), ""), nil
}

// parse parses text, which may begin with a byte order mark, into a tree whose root is an object.
func parse(name string, text []byte) (hujson.Value, error) {
	text = bytes.TrimPrefix(text, bom)
	fail := func(offset int, reason string) (hujson.Value, error) {
		line, column := position(text, offset)
		return hujson.Value{}, &SyntaxError{File: name, Line: line, Column: column, Reason: reason}
	}
	if at := invalidUTF8(text); at >= 0 {
		return fail(at, "the text is not valid UTF-8")
	}
	if at := tooDeep(text); at >= 0 {
		return fail(at, fmt.Sprintf("values are nested deeper than %d", maxDepth))
	}
	// A last line comment may end with the file.
	v, err := hujson.Parse(append(text[:len(text):len(text)], '\n'))
	if err != nil {
		offset, reason := explain(text, err)
		return fail(offset, reason)
	}
	if n := len(v.AfterExtra); n > 0 {
		v.AfterExtra = v.AfterExtra[:n-1]
	}
	if _, ok := v.Value.(*hujson.Object); !ok {
		return fail(v.StartOffset, "the root must be an object, { … }")
	}
	return v, nil
}

// explain takes offset and reason out of an error of the parser. The parser quotes invalid literals whole; such a quote
// could hold a key, so it is replaced.
func explain(text []byte, err error) (offset int, reason string) {
	var line, column int
	if _, scan := fmt.Sscanf(err.Error(), "hujson: line %d, column %d:", &line, &column); scan != nil {
		return 0, "the text is not JSON"
	}
	for i := 1; i < line; i++ {
		next := bytes.IndexByte(text[offset:], '\n')
		if next < 0 {
			offset, column = len(text), 1
			break
		}
		offset += next + 1
	}
	offset = min(offset+column-1, len(text))
	if cause := errors.Unwrap(err); cause != nil {
		err = cause
	}
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return offset, "the text ends too early"
	case strings.HasPrefix(err.Error(), "invalid literal"):
		return offset, "a value is not written as JSON"
	}
	return offset, err.Error()
}

// position turns a byte offset into line and column, both from 1; the column counts characters.
func position(text []byte, offset int) (line, column int) {
	offset = min(offset, len(text))
	before := text[:offset]
	start := bytes.LastIndexByte(before, '\n') + 1
	return 1 + bytes.Count(before, []byte("\n")), 1 + utf8.RuneCount(before[start:])
}

// invalidUTF8 returns the offset of the first byte that is not part of a character, or -1.
func invalidUTF8(text []byte) int {
	if utf8.Valid(text) {
		return -1
	}
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return -1
}

// tooDeep returns the offset of the bracket that exceeds maxDepth, or -1. Brackets in strings and comments don't count.
func tooDeep(text []byte) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '{', '[':
			if depth++; depth > maxDepth {
				return i
			}
		case '}', ']':
			depth--
		case '"':
			i = skipString(text, i)
		case '/':
			i = skipComment(text, i)
		}
	}
	return -1
}

// skipString returns the offset of the quote that ends the string at i, or of the end of the text.
func skipString(text []byte, i int) int {
	for i++; i < len(text) && text[i] != '"'; i++ {
		if text[i] == '\\' {
			i++
		}
	}
	return i
}

// skipComment returns the offset of the last byte of the comment at i, or i when there is none.
func skipComment(text []byte, i int) int {
	rest := text[i:]
	end := -1
	switch {
	case bytes.HasPrefix(rest, []byte("//")):
		end = bytes.IndexByte(rest, '\n')
	case bytes.HasPrefix(rest, []byte("/*")):
		if end = bytes.Index(rest[2:], []byte("*/")); end >= 0 {
			end += 3
		}
	default:
		return i
	}
	if end < 0 {
		return len(text)
	}
	return i + end
}
