package framing

import (
	"bytes"
	"errors"
	"io"

	"github.com/crystalkernel/crystal/internal/wire/rawjson"
)

// Event is one server-sent event with data. Name and Data are valid until the next call of [Events.Next].
type Event struct {
	Name []byte
	Data []byte
}

// Events reads server-sent events. It is not safe for use by several goroutines.
type Events struct {
	lines *Lines
	name  []byte
	data  []byte
	ends  []int // where each data line ends in data
	err   error
}

// NewEvents returns the events of r.
func NewEvents(r io.Reader) *Events { return &Events{lines: NewLines(r)} }

// Next returns the next event whose data is neither blank nor a comment. An event that the end of the body cuts off
// counts; after it the error of the reader is returned, io.EOF at the end of the body.
func (e *Events) Next() (Event, error) {
	for {
		if data, ok := e.take(); ok {
			return Event{Name: e.name, Data: data}, nil
		}
		if e.err != nil {
			return Event{}, e.err
		}
		e.err = e.gather()
		if e.err != nil && !errors.Is(e.err, io.EOF) {
			return Event{}, e.err
		}
	}
}

// take hands out what was gathered: as one, or, when the lines are one JSON value each but not together, one by one.
func (e *Events) take() ([]byte, bool) {
	for len(e.ends) > 0 {
		data := e.data
		if len(e.ends) > 1 && !rawjson.Valid(data) && e.eachValid() {
			first := e.ends[0]
			data = e.data[:first:first]
			e.data = e.data[min(first+1, len(e.data)):]
			e.ends = e.ends[1:]
			for i := range e.ends {
				e.ends[i] -= first + 1
			}
		} else {
			e.ends = e.ends[:0]
		}
		if spoken(data) {
			return data, true
		}
	}
	return nil, false
}

// spoken reports whether data says anything: blank data and comments that a proxy sent as data do not.
func spoken(data []byte) bool {
	data = bytes.TrimLeft(data, " \t\r\n")
	return len(data) > 0 && data[0] != ':'
}

func (e *Events) eachValid() bool {
	start := 0
	for _, end := range e.ends {
		line := e.data[start:end]
		if spoken(line) && !bytes.Equal(bytes.TrimSpace(line), []byte(Done)) && !rawjson.Valid(line) {
			return false
		}
		start = end + 1
	}
	return true
}

// Done is the data with which Chat Completions ends a stream. It is no JSON.
const Done = "[DONE]"

// gather reads lines up to the end of an event that has data.
func (e *Events) gather() error {
	e.name, e.data, e.ends = e.name[:0], e.data[:0], e.ends[:0]
	for {
		line, err := e.lines.Next()
		if err != nil {
			return err
		}
		if len(line) == 0 {
			if len(e.ends) > 0 {
				return nil
			}
			e.name = e.name[:0]
			continue
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) {
		case "data":
			if len(e.ends) > 0 {
				e.data = append(e.data, '\n')
			}
			if len(e.data)+len(value) > MaxLine {
				return ErrTooLong
			}
			e.data = append(e.data, value...)
			e.ends = append(e.ends, len(e.data))
		case "event":
			e.name = append(e.name[:0], value...)
		}
	}
}
