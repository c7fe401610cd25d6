package threadlog

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"github.com/crystalkernel/crystal/points/model"
)

// stampLayout always has a fraction; times are UTC.
const stampLayout = "2006-01-02T15:04:05.000000Z"

// Errors of decoding one line.
var (
	errNotObject = errors.New("not a JSON object")
	errUnread    = errors.New("not understood")
)

// encoder turns records into lines.
type encoder struct {
	buf  bytes.Buffer
	json *json.Encoder
}

func newEncoder() *encoder {
	e := new(encoder)
	e.json = json.NewEncoder(&e.buf)
	e.json.SetEscapeHTML(false)
	return e
}

// add puts the line of r behind those that are there.
func (e *encoder) add(r Record) error {
	s := r.stamp()
	head := append(e.buf.AvailableBuffer(), `{"seq":`...)
	head = strconv.AppendInt(head, s.Seq, 10)
	head = append(head, `,"time":"`...)
	head = s.Time.AppendFormat(head, stampLayout)
	head = append(head, `","type":"`...)
	head = append(head, r.Kind()...)
	head = append(head, '"')
	e.buf.Write(head)
	body := e.buf.Len()
	if err := e.json.Encode(r); err != nil {
		return err
	}
	// The body is an object of its own: it goes on with the one that the head began.
	if line := e.buf.Bytes(); line[body+1] == '}' {
		copy(line[body:], line[body+1:])
		e.buf.Truncate(e.buf.Len() - 1)
	} else {
		line[body] = ','
	}
	return nil
}

// envelope is what every record has.
type envelope struct {
	Seq  int64
	Time time.Time
	kind string
}

// decode reads one line, without its end. With errUnread the envelope is set as far as it was readable. skipped counts
// items that were left out of the record.
func decode(line []byte) (r Record, e envelope, skipped int, err error) {
	e, ok := quickEnvelope(line)
	if !ok {
		if e, err = slowEnvelope(line); err != nil {
			return nil, e, 0, err
		}
	}
	r = newRecord(e.kind)
	if r == nil {
		if !json.Valid(line) {
			return nil, e, 0, errNotObject
		}
		return nil, e, 0, errUnread
	}
	err = json.Unmarshal(line, r)
	if syntax := new(json.SyntaxError); errors.As(err, &syntax) {
		return nil, e, 0, errNotObject
	}
	if round, ok := r.(*Round); ok {
		if err != nil {
			skipped, err = looseRound(line, round)
		}
		n := len(round.Items)
		round.Items = readable(round.Items)
		skipped += n - len(round.Items)
	}
	if err != nil || !complete(r) {
		return nil, e, skipped, errUnread
	}
	*r.stamp() = Stamp{Seq: e.Seq, Time: e.Time}
	return r, e, skipped, nil
}

// quickEnvelope reads the envelope of a line that this package wrote.
func quickEnvelope(line []byte) (e envelope, ok bool) {
	rest, ok := bytes.CutPrefix(line, []byte(`{"seq":`))
	if !ok {
		return e, false
	}
	digits, rest, ok := bytes.Cut(rest, []byte(`,"time":"`))
	if !ok {
		return e, false
	}
	seq, err := strconv.ParseInt(string(digits), 10, 63)
	if err != nil {
		return e, false
	}
	at, rest, ok := bytes.Cut(rest, []byte(`","type":"`))
	if !ok || len(at) > len(time.RFC3339Nano) {
		return e, false
	}
	kind, _, ok := bytes.Cut(rest, []byte(`"`))
	if !ok || bytes.IndexByte(kind, '\\') >= 0 {
		return e, false
	}
	when, err := time.Parse(time.RFC3339Nano, string(at))
	return envelope{Seq: seq, Time: when, kind: string(kind)}, err == nil
}

// slowEnvelope reads the envelope of any JSON object.
func slowEnvelope(line []byte) (envelope, error) {
	var fields struct {
		Seq  json.RawMessage `json:"seq"`
		Time json.RawMessage `json:"time"`
		Type json.RawMessage `json:"type"`
	}
	if line = bytes.TrimLeft(line, " \t\r"); len(line) == 0 || line[0] != '{' {
		return envelope{}, errNotObject
	}
	if err := json.Unmarshal(line, &fields); err != nil {
		return envelope{}, errNotObject
	}
	// What has another type than it should stays zero: the record may be readable all the same.
	var e envelope
	_ = json.Unmarshal(fields.Seq, &e.Seq)
	_ = json.Unmarshal(fields.Time, &e.Time)
	_ = json.Unmarshal(fields.Type, &e.kind)
	e.Seq = max(e.Seq, 0)
	return e, nil
}

func newRecord(kind string) Record {
	switch kind {
	case "thread":
		return new(Thread)
	case "system":
		return new(System)
	case "turn":
		return new(Turn)
	case "round":
		return new(Round)
	case "call":
		return new(Call)
	case "result":
		return new(Result)
	case "partial":
		return new(Partial)
	case "turn_end":
		return new(TurnEnd)
	case "prune":
		return new(Prune)
	case "compaction":
		return new(Compaction)
	case "todos":
		return new(Todos)
	case "mode":
		return new(Mode)
	case "title":
		return new(Title)
	case "repair":
		return new(Repair)
	}
	return nil
}

// looseRound reads a round of which an item, or another field, has an unexpected form: item by item.
func looseRound(line []byte, round *Round) (skipped int, err error) {
	*round = Round{}
	loose := struct {
		*Round
		Items []json.RawMessage `json:"items"`
	}{Round: round}
	if err := json.Unmarshal(line, &loose); err != nil {
		return 0, err
	}
	for _, raw := range loose.Items {
		it := new(model.Item)
		if err := json.Unmarshal(raw, it); err != nil {
			skipped++
			continue
		}
		round.Items = append(round.Items, it)
	}
	return skipped, nil
}

// readable leaves out items of kinds and roles that this version does not know.
func readable(items []*model.Item) []*model.Item {
	kept := items[:0]
	for _, it := range items {
		if known(it) {
			kept = append(kept, it)
		}
	}
	return kept
}

func known(it *model.Item) bool {
	if it == nil {
		return false
	}
	switch it.Kind {
	case model.Message:
		return it.Role == model.System || it.Role == model.User || it.Role == model.Assistant
	case model.ToolCall, model.ToolResult, model.Reasoning:
		return true
	}
	return false
}

// complete reports whether a record has what its kind can't be without. It makes the two call ids of a result one.
func complete(r Record) bool {
	switch r := r.(type) {
	case *Turn:
		return known(r.Item) && r.Item.Kind == model.Message
	case *Result:
		if !known(r.Item) || r.Item.Kind != model.ToolResult {
			return false
		}
		if r.CallID == "" {
			r.CallID = r.Item.CallID
		}
		r.Item.CallID = r.CallID
	case *Compaction:
		return known(r.Summary) && r.Summary.Kind == model.Message
	}
	return true
}
