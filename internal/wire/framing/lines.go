package framing

import (
	"bytes"
	"errors"
	"io"
)

// MaxLine is the longest line or event in bytes.
const MaxLine = 16 << 20

// ErrTooLong is returned when a line or an event is longer than [MaxLine].
var ErrTooLong = errors.New("a line or event of the stream is longer than 16 MiB")

const firstBuffer = 16 << 10

// Lines reads lines. It is not safe for use by several goroutines.
type Lines struct {
	r       io.Reader
	buf     []byte
	start   int // of what was not handed out yet
	end     int // of what was read
	scanned int // no line end before this place
	swallow bool
	begun   bool
	err     error
}

// NewLines returns the lines of r.
func NewLines(r io.Reader) *Lines { return &Lines{r: r} }

// Next returns the next line without its end. The bytes are valid until the next call. A last line without an end
// counts; after it the error of the reader is returned, io.EOF at the end of the body.
func (l *Lines) Next() ([]byte, error) {
	for {
		if line, ok := l.cut(); ok {
			return l.first(line), nil
		}
		if l.err != nil {
			if errors.Is(l.err, io.EOF) && l.end > l.start {
				line := l.buf[l.start:l.end]
				l.start, l.scanned = l.end, l.end
				return l.first(line), nil
			}
			return nil, l.err
		}
		l.fill()
	}
}

// cut takes a line out of what was read, if a whole one is there.
func (l *Lines) cut() ([]byte, bool) {
	if l.swallow && l.end > l.start {
		// The CR before ended the line already; a LF behind it belongs to that end.
		l.swallow = false
		if l.buf[l.start] == '\n' {
			l.start++
			l.scanned = max(l.scanned, l.start)
		}
	}
	fresh := l.buf[l.scanned:l.end]
	n := bytes.IndexByte(fresh, '\n')
	if n >= 0 {
		fresh = fresh[:n]
	}
	if cr := bytes.IndexByte(fresh, '\r'); cr >= 0 {
		n = cr
		l.swallow = true
	}
	if n < 0 {
		l.scanned = l.end
		return nil, false
	}
	line := l.buf[l.start : l.scanned+n]
	l.start = l.scanned + n + 1
	l.scanned = l.start
	return line, true
}

// first takes the byte order mark off the first line.
func (l *Lines) first(line []byte) []byte {
	if l.begun {
		return line
	}
	l.begun = true
	return bytes.TrimPrefix(line, []byte("\xEF\xBB\xBF"))
}

func (l *Lines) fill() {
	if l.start > 0 {
		copy(l.buf, l.buf[l.start:l.end])
		l.end -= l.start
		l.scanned -= l.start
		l.start = 0
	}
	if l.end > MaxLine {
		l.err = ErrTooLong
		return
	}
	if l.end == len(l.buf) {
		grown := make([]byte, min(max(2*len(l.buf), firstBuffer), MaxLine+1))
		copy(grown, l.buf[:l.end])
		l.buf = grown
	}
	n, err := l.r.Read(l.buf[l.end:])
	l.end += n
	if err != nil {
		l.err = err
	}
}
