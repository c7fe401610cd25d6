package threadlog

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/crystalkernel/crystal/points/model"
)

// Fork implements [Store]. The parent may be archived. One of a newer host fails with [ErrSchemaNewer].
func (s *DiskStore) Fork(ctx context.Context, id, at string) (string, error) {
	path, err := s.find(id)
	if err != nil {
		return "", err
	}
	var parent []forkLine
	if _, err := readFile(path, func(l line) error {
		if first, ok := l.record.(*Thread); ok && first.Schema > Schema {
			return ErrSchemaNewer
		}
		parent = append(parent, forkLine{raw: bytes.Clone(l.raw), record: l.record, seq: l.seq})
		return context.Cause(ctx)
	}); err != nil {
		return "", openError(id, err)
	}
	child := newID()
	lines, err := fork(parent, at, child, time.Now().UTC())
	if err != nil {
		return "", fmt.Errorf("thread %s: fork at %q: %w", id, at, err)
	}
	if err := writeNew(s.threads(), child+".jsonl", bytes.Join(lines, nil)); err != nil {
		return "", fmt.Errorf("thread %s: fork: %w", id, err)
	}
	return child, nil
}

// Fork implements [Store].
func (s *MemoryStore) Fork(_ context.Context, id, at string) (string, error) {
	m, err := s.find(id)
	if err != nil {
		return "", err
	}
	var lines []forkLine
	e := newEncoder()
	for _, r := range m.all() {
		e.buf.Reset()
		if err := e.add(r); err != nil {
			return "", fmt.Errorf("thread %s: fork: %w", id, err)
		}
		lines = append(lines, forkLine{raw: slices.Clone(trimEnd(e.buf.Bytes())), record: r, seq: r.stamp().Seq})
	}
	child := newID()
	out, err := fork(lines, at, child, time.Now().UTC())
	if err != nil {
		return "", fmt.Errorf("thread %s: fork at %q: %w", id, at, err)
	}
	f := &memoryThread{id: child, store: s}
	for _, raw := range out {
		if r, _, _, err := decode(trimEnd(raw)); err == nil {
			f.records = append(f.records, r)
		}
	}
	s.mu.Lock()
	s.threads[child] = f
	s.mu.Unlock()
	return child, nil
}

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
	if !slices.ContainsFunc(parent[:last+1], func(l forkLine) bool { return begins(l.record) }) {
		return nil, ErrPlace // there would be nothing to go on with
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
