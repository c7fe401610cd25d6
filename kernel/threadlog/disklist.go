package threadlog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// listed is what a listing knows about a file, as long as it has the same size and time.
type listed struct {
	size    int64
	time    time.Time
	entry   Entry
	shown   bool // there is a user message or a summary
	damaged bool
}

// List implements [Store].
func (s *DiskStore) List(ctx context.Context, f Filter) ([]Entry, []Note, error) {
	dir := s.threads()
	if f.Archived {
		dir = s.archived()
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil, nil
		}
		return nil, nil, fmt.Errorf("list threads: %w", err)
	}
	var entries []Entry
	var notes []Note
	for _, file := range files {
		if err := ctx.Err(); err != nil {
			return nil, nil, fmt.Errorf("list threads: %w", context.Cause(ctx))
		}
		id, ok := strings.CutSuffix(file.Name(), ".jsonl")
		if !ok || !isID(id) || !file.Type().IsRegular() {
			continue
		}
		l, err := s.look(filepath.Join(dir, file.Name()))
		switch {
		case errors.Is(err, fs.ErrNotExist): // moved or deleted meanwhile
		case err != nil:
			notes = append(notes, Note{Code: ThreadRecordSkipped, Thread: id, Message: "the thread can't be read now: " + err.Error()})
		case l.damaged:
			notes = append(notes, damagedNote(id, ErrDamaged)...)
		case l.shown && (f.Workspace == "" || f.Workspace == l.entry.Workspace):
			l.entry.ID, l.entry.Archived = id, f.Archived
			entries = append(entries, l.entry)
		}
	}
	entries = newestFirst(entries, f.Limit)
	for i := range entries {
		entries[i].InUse = inUse(s.lockPath(entries[i].ID))
	}
	return entries, notes, nil
}

// look reads what a listing shows of a file.
func (s *DiskStore) look(path string) (listed, error) {
	info, err := os.Stat(path)
	if err != nil {
		return listed{}, err
	}
	s.mu.Lock()
	l, ok := s.known[path]
	s.mu.Unlock()
	if ok && l.size == info.Size() && l.time.Equal(info.ModTime()) {
		return l, nil
	}
	l, err = skim(path)
	if err != nil {
		return listed{}, err
	}
	l.size, l.time = info.Size(), info.ModTime()
	s.mu.Lock()
	s.known[path] = l
	s.mu.Unlock()
	return l, nil
}

// skim reads a log for a listing: of most records the envelope alone.
func skim(path string) (listed, error) {
	f, err := os.Open(path)
	if err != nil {
		return listed{}, err
	}
	defer f.Close()
	var t transcript
	l := listed{damaged: true}
	_, err = scan(f, func(raw []byte, number int, _, _ int64) bool {
		e, quick := quickEnvelope(raw)
		if quick && number > 1 && e.kind != "title" && e.kind != "mode" && e.kind != "turn" && e.kind != "compaction" {
			if bytes.HasSuffix(raw, []byte("}")) {
				t.state.Updated = e.Time
			}
			return true
		}
		r, _, _, err := decode(raw)
		if number == 1 {
			_, first := r.(*Thread)
			l.damaged = !first
		}
		if err != nil {
			return !l.damaged
		}
		switch r := r.(type) {
		case *Compaction:
			l.shown = true
			t.state.Updated = r.Time
		case *Turn:
			l.shown = true
			t.feed(r)
			t.items = t.items[:0]
		default:
			t.feed(r)
			t.items = t.items[:0]
		}
		return true
	})
	if err != nil {
		return listed{}, err
	}
	l.entry = (&Picture{transcript: t}).entry()
	return l, nil
}
