package builtin

import (
	"bytes"
	"context"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/crystalkernel/crystal/internal/plaintext"
)

// matcher finds a pattern in a line.
type matcher struct {
	plain      []byte // a text to be found as it is; nil: the expression counts
	expression *regexp.Regexp
}

func newMatcher(pattern string, literal, ignoreCase bool) (matcher, error) {
	if literal && !ignoreCase && pattern != "" {
		return matcher{plain: []byte(pattern)}, nil
	}
	if literal {
		pattern = regexp.QuoteMeta(pattern)
	}
	if ignoreCase {
		pattern = "(?i:" + pattern + ")"
	}
	expression, err := regexp.Compile(pattern)
	if err != nil {
		return matcher{}, err
	}
	if prefix, whole := expression.LiteralPrefix(); whole && prefix != "" {
		return matcher{plain: []byte(prefix)}, nil
	}
	return matcher{expression: expression}, nil
}

// next returns the start and end of the first line of text, from the line that starts at from, that holds a match.
func (m matcher) next(text []byte, from int) (start, end int, ok bool) {
	if m.plain != nil && bytes.IndexByte(m.plain, '\n') < 0 {
		// Most lines of most files hold no match: they are passed over at once.
		at := bytes.Index(text[from:], m.plain)
		if at < 0 {
			return 0, 0, false
		}
		start = from + bytes.LastIndexByte(text[from:from+at], '\n') + 1
		return start, lineEnd(text, from+at), true
	}
	if m.plain != nil {
		return 0, 0, false // no line holds a line feed
	}
	for start = from; start < len(text); start = end + 1 {
		end = lineEnd(text, start)
		if m.expression.Match(bytes.TrimSuffix(text[start:end], []byte("\r"))) {
			return start, end, true
		}
	}
	return 0, 0, false
}

// lineEnd returns where the line that holds the byte at i ends: at its line feed, or at the end of the text.
func lineEnd(text []byte, i int) int {
	if n := bytes.IndexByte(text[i:], '\n'); n >= 0 {
		return i + n
	}
	return len(text)
}

// search goes through files and writes down what it finds.
type search struct {
	ctx     context.Context
	match   matcher
	context int

	out     strings.Builder
	buffer  bytes.Buffer
	matches int
	more    bool
	skipped int
}

// file searches one file and reports whether the search is to go on.
func (g *search) file(name string, r io.Reader) bool {
	if g.ctx.Err() != nil {
		return false
	}
	g.buffer.Reset()
	if _, err := g.buffer.ReadFrom(io.LimitReader(r, maxGrepFile+1)); err != nil {
		return true
	}
	text := g.buffer.Bytes()
	if len(text) > maxGrepFile || bytes.IndexByte(text[:min(len(text), binaryWindow)], 0) >= 0 {
		g.skipped++
		return true
	}
	text = bytes.TrimPrefix(text, byteOrderMark)
	f := fileSearch{search: g, name: oneLine(name), text: text, counted: 0, line: 1}
	for from := 0; from < len(text); {
		start, end, ok := g.match.next(text, from)
		if !ok {
			break
		}
		if g.matches == maxGrepMatches {
			g.more = true
			break
		}
		g.matches++
		f.found(start, end)
		from = end + 1
		if g.matches%64 == 0 && g.ctx.Err() != nil {
			break
		}
	}
	f.after(len(text))
	return !g.more && g.ctx.Err() == nil
}

// fileSearch writes the matches of one file with the lines around them.
type fileSearch struct {
	*search
	name    string
	text    []byte
	counted int // lines are counted up to the one that starts here
	line    int // and that is its number
	written int // lines are written up to the one that starts here
	pending int // lines of context that are still due from there
	any     bool
}

// number returns the number of the line that starts at start. Starts only grow.
func (f *fileSearch) number(start int) int {
	f.line += bytes.Count(f.text[f.counted:start], []byte("\n"))
	f.counted = start
	return f.line
}

func (f *fileSearch) found(start, end int) {
	f.after(start)
	from := start
	for range f.context {
		if from <= f.written {
			break
		}
		from = bytes.LastIndexByte(f.text[:from-1], '\n') + 1
	}
	from = max(from, f.written)
	if f.context > 0 && (f.any && from > f.written || !f.any && f.out.Len() > 0) {
		f.out.WriteString("--\n")
	}
	f.lines(from, start, '-')
	f.emit(start, end, ':')
	f.written = min(end+1, len(f.text))
	f.pending = f.context
	f.any = true
}

// after writes the context that is still due, as far as it lies before the line that starts at limit.
func (f *fileSearch) after(limit int) {
	for f.pending > 0 && f.written < limit {
		end := lineEnd(f.text, f.written)
		f.emit(f.written, end, '-')
		f.written = min(end+1, len(f.text))
		f.pending--
	}
}

// lines writes the lines from one start to another.
func (f *fileSearch) lines(from, to int, mark byte) {
	for from < to {
		end := lineEnd(f.text, from)
		f.emit(from, end, mark)
		from = end + 1
	}
}

func (f *fileSearch) emit(start, end int, mark byte) {
	f.out.WriteString(f.name)
	f.out.WriteByte(mark)
	f.out.WriteString(strconv.Itoa(f.number(start)))
	f.out.WriteByte(mark)
	f.out.WriteString(plaintext.Clean(string(bytes.TrimSuffix(f.text[start:end], []byte("\r")))))
	f.out.WriteByte('\n')
}
