package threadlog

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// maxLine is the length of the longest line that is read.
const maxLine = 64 << 20

// line is one whole line of a log.
type line struct {
	raw    []byte // without its end; valid during the call
	record Record // nil when the line was not understood
	seq    int64  // as it stands in the line, else one more than the line before
}

// reading is what came out of reading a log.
type reading struct {
	keep    int64 // end of the last line that is no torn tail
	size    int64
	lastSeq int64
	skipped []int // numbers of lines that were skipped, or of which items were
}

// torn is the number of bytes of the torn tail.
func (r *reading) torn() int64 { return r.size - r.keep }

// read reads a log and calls each for every line that is a JSON object. It fails with [ErrDamaged] when the first line is
// no readable thread record.
func read(from io.Reader, each func(line) error) (*reading, error) {
	r := new(reading)
	bad, badEnd := 0, int64(0) // the line before, when it was not an object: torn if nothing follows
	var failed error
	size, err := scan(from, func(raw []byte, number int, start, end int64) bool {
		if bad > 0 {
			r.skip(bad)
			bad, r.keep = 0, start
		}
		failed = r.line(raw, number, end, &bad, each)
		badEnd = end
		return failed == nil
	})
	r.size = size
	if bad > 0 && badEnd < size { // a piece of a line follows, and only that is the tail
		r.skip(bad)
		r.keep = badEnd
	}
	switch {
	case err != nil:
		return r, err
	case failed != nil:
		return r, failed
	case r.keep == 0:
		return r, ErrDamaged
	}
	return r, nil
}

// line takes one whole line.
func (r *reading) line(raw []byte, number int, end int64, bad *int, each func(line) error) error {
	record, e, lost, err := decode(raw)
	if _, first := record.(*Thread); number == 1 && !first {
		return ErrDamaged
	}
	switch {
	case raw == nil: // longer than can be read
		r.skip(number)
		r.keep, r.lastSeq = end, r.lastSeq+1
		return nil
	case errors.Is(err, errNotObject):
		*bad = number
		return nil
	case err != nil || lost > 0:
		r.skip(number)
	}
	if e.Seq == 0 {
		e.Seq = r.lastSeq + 1
	}
	r.keep, r.lastSeq = end, max(r.lastSeq, e.Seq)
	return each(line{raw: raw, record: record, seq: e.Seq})
}

// scan calls each for every whole line, without its end; raw is nil for a line that is too long. It returns the size of
// what it read, a last line without an end included.
func scan(from io.Reader, each func(raw []byte, number int, start, end int64) bool) (size int64, err error) {
	in := bufio.NewReaderSize(from, 64<<10)
	var long []byte
	for number := 1; ; number++ {
		raw, n, whole, err := nextLine(in, &long)
		start := size
		size += n
		if err != nil || !whole {
			return size, err
		}
		if !each(raw, number, start, size) {
			return size, nil
		}
	}
}

func (r *reading) skip(number int) { r.skipped = append(r.skipped, number) }

// nextLine reads one line. n counts all its bytes; whole says that it had an end; raw is nil for a line that is too long.
func nextLine(in *bufio.Reader, long *[]byte) (raw []byte, n int64, whole bool, err error) {
	*long = (*long)[:0]
	tooLong := false
	for {
		part, err := in.ReadSlice('\n')
		n += int64(len(part))
		switch {
		case err == nil && len(*long) == 0 && !tooLong:
			return part[:len(part)-1], n, true, nil
		case err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull):
			return nil, n, false, err
		}
		if !tooLong {
			*long = append(*long, part...)
			if tooLong = len(*long) > maxLine; tooLong {
				*long = nil
			}
		}
		switch {
		case err == io.EOF:
			return nil, n, false, nil
		case err == nil && tooLong:
			return nil, n, true, nil
		case err == nil:
			return (*long)[:len(*long)-1], n, true, nil
		}
	}
}

// notes says what reading left out.
func (r *reading) notes(thread string, orphans int) []Note {
	var notes []Note
	if len(r.skipped) > 0 {
		notes = append(notes, Note{Code: ThreadRecordSkipped, Thread: thread, Message: fmt.Sprintf(
			"the log has records that could not be read: line %s", numbers(r.skipped))})
	}
	if orphans > 0 {
		notes = append(notes, Note{Code: ThreadRecordSkipped, Thread: thread, Message: fmt.Sprintf(
			"the log has results without a call, which are left out: %d", orphans)})
	}
	return notes
}

// numbers lists line numbers; of very many the first hundred.
func numbers(list []int) string {
	var b strings.Builder
	for i, n := range list {
		if i == 100 {
			fmt.Fprintf(&b, " and %d more", len(list)-i)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(strconv.Itoa(n))
	}
	return b.String()
}
