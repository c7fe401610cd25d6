package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/crystalkernel/crystal/internal/wire/framing"
	"github.com/crystalkernel/crystal/internal/wire/rawjson"
	"github.com/crystalkernel/crystal/points/model"
)

// errOrder says that the deltas of an answer contradict each other.
var errOrder = errors.New("the stream contradicts itself")

// read reads a successful answer into sink. io.EOF says that there was no terminal event.
func (c *Client) read(sink *Sink, w *watch, h http.Header, body io.Reader) error {
	kind, body, err := kindOf(h, body, c.lines)
	if err != nil {
		return err
	}
	d := c.codec.Decoder()
	var next func() (framing.Event, error)
	switch kind {
	case htmlBody:
		page, _ := io.ReadAll(io.LimitReader(body, longQuote))
		return &InvalidError{Reason: "the answer is a web page", Quote: page, Final: true}
	case wholeBody:
		next, err = whole(body)
		if err != nil {
			return err
		}
	case linesBody:
		next = (&objects{lines: framing.NewLines(body), spread: isJSON(h)}).next
	case eventsBody:
		next = framing.NewEvents(body).Next
	case emptyBody:
		return io.EOF
	}
	return pump(sink, d, w, next)
}

// pump gives events to the decoder until the answer is whole.
func pump(sink *Sink, d Decoder, w *watch, next func() (framing.Event, error)) error {
	progress := More
	for progress != Complete {
		e, err := next()
		if err != nil {
			if progress == Trailing || errors.Is(err, io.EOF) {
				break
			}
			return err
		}
		now := progress
		if string(bytes.TrimSpace(e.Data)) == framing.Done {
			now = d.Done(sink)
		} else if now, err = d.Event(e.Name, e.Data, sink); err != nil {
			if errors.Is(err, rawjson.ErrSyntax) {
				err = &InvalidError{Reason: "an event of the stream is not JSON", Quote: quote(e.Data)}
			}
			return err
		}
		if sink.err != nil {
			return broke(sink.err)
		}
		if now == Trailing && progress == More {
			w.limitTo(trailing, errTrailing, true)
		}
		progress = max(progress, now)
	}
	if !d.Close(sink) {
		return io.EOF
	}
	return broke(sink.err)
}

// broke marks an error of the assembler: it is the stream's, and not that of whoever takes the deltas.
func broke(err error) error {
	for _, e := range []error{model.ErrSecondFinish, model.ErrLateDelta, model.ErrUnknownCall, model.ErrNoFinish} {
		if errors.Is(err, e) {
			return fmt.Errorf("%w: %w", errOrder, err)
		}
	}
	return err
}

// objects reads JSON objects on a line each. Where a body is declared to be one JSON value, an object may also be spread
// over lines.
type objects struct {
	lines  *framing.Lines
	spread bool
	held   []byte
}

// mostSpread bounds the lines after each of which an object is looked for, because each look reads all of them.
const mostSpread = 1000

func (o *objects) next() (framing.Event, error) {
	o.held = o.held[:0]
	for n := 0; ; n++ {
		line, err := o.lines.Next()
		switch {
		case errors.Is(err, io.EOF) && len(o.held) > 0:
			return framing.Event{Data: o.held}, nil
		case err != nil:
			return framing.Event{}, err
		case len(bytes.TrimSpace(line)) == 0:
			continue
		case !o.spread:
			return framing.Event{Data: line}, nil
		case len(o.held)+len(line) > framing.MaxLine:
			return framing.Event{}, framing.ErrTooLong
		}
		o.held = append(append(o.held, line...), '\n')
		if n < mostSpread && rawjson.Valid(o.held) {
			return framing.Event{Data: o.held}, nil
		}
	}
}

// whole reads a body that is JSON from its first byte to its last: one object, or an array of objects.
func whole(body io.Reader) (func() (framing.Event, error), error) {
	text, err := io.ReadAll(io.LimitReader(body, maxCandidate+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxCandidate {
		return nil, &InvalidError{Reason: "the answer is longer than 64 MiB", Final: true}
	}
	text = bytes.TrimPrefix(text, []byte("\xEF\xBB\xBF"))
	if !rawjson.Valid(text) {
		return nil, &InvalidError{Reason: "the answer is not JSON", Quote: quote(text)}
	}
	var s rawjson.Scanner
	s.Reset(text)
	if s.Kind() == rawjson.Array {
		s.Array()
		return func() (framing.Event, error) {
			if !s.Next() {
				return framing.Event{}, io.EOF
			}
			return framing.Event{Data: s.Raw()}, nil
		}, nil
	}
	return func() (framing.Event, error) {
		data := text
		if text = nil; data == nil {
			return framing.Event{}, io.EOF
		}
		return framing.Event{Data: data}, nil
	}, nil
}
