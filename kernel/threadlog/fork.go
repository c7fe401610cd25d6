package threadlog

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"github.com/crystalkernel/crystal/points/model"
)

// forkLine is a line of the parent.
type forkLine struct {
	raw    []byte
	record Record // nil when it is not understood
	seq    int64
}

// fork makes the lines of a fork: those of the parent up to a place, renumbered, with open calls closed. A place is a
// record number, an item id, or blank for the end of the last turn.
func fork(parent []forkLine, at, id string, now time.Time) ([][]byte, error) {
	last, cut, err := place(parent, at)
	if err != nil {
		return nil, err
	}
	var t transcript
	var out [][]byte
	seq := int64(0)
	e := newEncoder()
	store := func(r Record, when time.Time) error {
		seq++
		*r.stamp() = Stamp{Seq: seq, Time: when}
		e.buf.Reset()
		if err := e.add(r); err != nil {
			return err
		}
		out = append(out, slices.Clone(e.buf.Bytes()))
		t.feed(r)
		return nil
	}
	for i, l := range parent[:last+1] {
		switch r := l.record.(type) {
		case *Thread:
			child := *r
			child.ID, child.CreatedAt = id, now
			child.Fork = &Origin{Thread: r.ID, Seq: parent[last].seq}
			err = store(&child, now)
		case *Round:
			if i == last && cut != nil {
				err = store(cut, r.Time)
				break
			}
			seq++
			out = append(out, renumber(l.raw, seq))
			t.feed(r)
		default:
			seq++
			out = append(out, renumber(l.raw, seq))
			if r != nil {
				t.feed(r)
			}
		}
		if err != nil {
			return nil, err
		}
	}
	next := t.lastItem
	for _, r := range t.closing() {
		if result, ok := r.(*Result); ok {
			next++
			result.Item.ID = "i" + strconv.FormatInt(next, 10)
		}
		if err := store(r, now); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// place finds the last line that belongs to the fork. cut is the record that stands for it when only a part of it does.
func place(parent []forkLine, at string) (last int, cut *Round, err error) {
	seq, _ := strconv.ParseInt(at, 10, 63)
	for i := len(parent) - 1; i >= 0; i-- {
		switch r := parent[i].record.(type) {
		case *TurnEnd:
			if at == "" {
				return i, nil, nil
			}
		case *Turn:
			if at != "" && r.Item.ID == at {
				return i, nil, nil
			}
		case *Result:
			if at != "" && r.Item.ID == at {
				return i, nil, nil
			}
		case *Compaction:
			if at != "" && r.Summary.ID == at {
				return i, nil, nil
			}
		case *Round:
			n := slices.IndexFunc(r.Items, func(it *model.Item) bool { return at != "" && it.ID == at })
			switch {
			case n < 0:
			case n == len(r.Items)-1:
				return i, nil, nil
			default:
				part := *r
				part.Items = r.Items[:n+1]
				return i, &part, nil
			}
		}
		if seq > 0 && parent[i].seq == seq {
			return i, nil, nil
		}
	}
	return 0, nil, ErrPlace
}

// renumber gives a line another number. What this version does not understand stays in it.
func renumber(raw []byte, seq int64) []byte {
	if rest, ok := bytes.CutPrefix(raw, []byte(`{"seq":`)); ok {
		if i := bytes.IndexByte(rest, ','); i > 0 {
			if _, err := strconv.ParseInt(string(rest[:i]), 10, 63); err == nil {
				out := strconv.AppendInt([]byte(`{"seq":`), seq, 10)
				out = append(out, rest[i:]...)
				return append(out, '\n')
			}
		}
	}
	// Not written by this package: keys may come in any order. Only whole JSON objects get here.
	fields := make(map[string]json.RawMessage)
	_ = json.Unmarshal(raw, &fields)
	fields["seq"] = strconv.AppendInt(nil, seq, 10)
	out, err := json.Marshal(fields)
	if err != nil {
		return append(slices.Clone(raw), '\n')
	}
	return append(out, '\n')
}

func trimEnd(line []byte) []byte { return bytes.TrimSuffix(line, []byte("\n")) }
