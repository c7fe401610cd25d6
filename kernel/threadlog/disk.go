package threadlog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// DiskStore keeps each thread as a file of JSON lines. Use [Disk] to make one. Several processes may share a home.
type DiskStore struct {
	home string

	mu    sync.Mutex
	known map[string]listed // what was read for a listing, by path
}

var _ Store = (*DiskStore)(nil)

// Disk makes a store under the home directory, which need not exist: threads are in its directory threads, images in
// media.
func Disk(home string) *DiskStore { return &DiskStore{home: home, known: make(map[string]listed)} }

func (s *DiskStore) threads() string  { return filepath.Join(s.home, "threads") }
func (s *DiskStore) archived() string { return filepath.Join(s.home, "threads", "archived") }
func (s *DiskStore) media() diskMedia { return diskMedia(filepath.Join(s.home, "media")) }

func (s *DiskStore) path(id string) string { return filepath.Join(s.threads(), id+".jsonl") }

func (s *DiskStore) archivePath(id string) string { return filepath.Join(s.archived(), id+".jsonl") }

func (s *DiskStore) lockPath(id string) string { return filepath.Join(s.threads(), id+".lock") }

// Create implements [Store].
func (s *DiskStore) Create(_ context.Context, h Header) (*Log, error) {
	id := newID()
	return newLog(id, h, &diskLog{store: s, id: id, lines: newEncoder()}, s.media()), nil
}

// Open implements [Store]. An archived thread is not found.
func (s *DiskStore) Open(ctx context.Context, id string) (*Log, []Note, error) {
	if !isID(id) {
		return nil, nil, fmt.Errorf("thread %q: %w", id, ErrNotFound)
	}
	if _, err := os.Stat(s.path(id)); err != nil {
		return nil, nil, openError(id, err)
	}
	held, err := lock(ctx, s.lockPath(id), id)
	if err != nil {
		return nil, nil, err
	}
	l, notes, err := s.open(id, held)
	if err != nil {
		held.release()
		return nil, notes, err
	}
	return l, notes, nil
}

// open reads a thread whose lock is held.
func (s *DiskStore) open(id string, held *held) (*Log, []Note, error) {
	var t transcript
	r, err := readFile(s.path(id), func(l line) error {
		if l.record != nil {
			t.feed(l.record)
		}
		return nil
	})
	if err != nil {
		return nil, damagedNote(id, err), openError(id, err)
	}
	notes := r.notes(id, t.orphans)
	if t.state.Thread.Schema > Schema {
		return nil, notes, fmt.Errorf("thread %s: %w: schema %d, this host knows %d",
			id, ErrSchemaNewer, t.state.Thread.Schema, Schema)
	}
	d := &diskLog{store: s, id: id, held: held, size: r.keep, torn: r.torn(), lines: newEncoder()}
	if d.file, err = os.OpenFile(s.path(id), os.O_WRONLY|os.O_APPEND, 0o600); err != nil {
		return nil, notes, openError(id, err)
	}
	l, more := openLog(id, t, r.lastSeq, r.torn(), d, s.media())
	return l, append(notes, more...), nil
}

// Read implements [Store]. Archived threads can be read too.
func (s *DiskStore) Read(_ context.Context, id string) (*Picture, []Note, error) {
	path, err := s.find(id)
	if err != nil {
		return nil, nil, err
	}
	var records []Record
	r, err := readFile(path, func(l line) error {
		if l.record != nil {
			records = append(records, l.record)
		}
		return nil
	})
	if err != nil {
		return nil, damagedNote(id, err), openError(id, err)
	}
	p := newPicture(records)
	notes := r.notes(id, p.orphans)
	if r.torn() > 0 {
		notes = append(notes, Note{Code: ThreadRepaired, Thread: id, Message: repaired(r.torn(), nil)})
	}
	return p, notes, nil
}

// File returns the path of the file that a thread is kept in, archived or not. It fails with [ErrNotFound] when there is none.
func (s *DiskStore) File(id string) (string, error) { return s.find(id) }

func (s *DiskStore) find(id string) (string, error) {
	if !isID(id) {
		return "", fmt.Errorf("thread %q: %w", id, ErrNotFound)
	}
	for _, path := range []string{s.path(id), s.archivePath(id)} {
		if _, err := os.Stat(path); err == nil {
			return path, nil
		} else if !errors.Is(err, fs.ErrNotExist) {
			return "", openError(id, err)
		}
	}
	return "", fmt.Errorf("thread %s: %w", id, ErrNotFound)
}

func openError(id string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("thread %s: %w", id, ErrNotFound)
	}
	return fmt.Errorf("thread %s: open: %w", id, err)
}

func damagedNote(id string, err error) []Note {
	if !errors.Is(err, ErrDamaged) {
		return nil
	}
	return []Note{{Code: ThreadDamaged, Thread: id, Message: "the file's first line is unreadable: it is no thread, and stays where it is"}}
}

// readFile reads a log.
func readFile(path string, each func(line) error) (*reading, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return read(f, each)
}

// diskLog is the sink of one thread: its file and its lock.
type diskLog struct {
	store *DiskStore
	id    string
	file  *os.File
	held  *held
	size  int64 // of the part that is kept
	torn  int64
	dirty bool // not all of it is flushed
	lines *encoder
}

func (d *diskLog) begin() error {
	if err := makeDir(d.store.threads()); err != nil {
		return err
	}
	var err error
	if d.held, err = lock(context.Background(), d.store.lockPath(d.id), d.id); err != nil {
		return err
	}
	if d.file, err = os.OpenFile(d.store.path(d.id), os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
		return err
	}
	return flushDir(d.store.threads())
}

func (d *diskLog) repair(now time.Time) (cut int64, saved string, err error) {
	if d.torn == 0 {
		return 0, "", nil
	}
	saved = d.id + ".torn-" + now.Format("20060102T150405.000000Z")
	if err := d.saveTail(filepath.Join(d.store.threads(), saved)); err != nil {
		return 0, "", fmt.Errorf("save the torn tail: %w", err)
	}
	if err := d.file.Truncate(d.size); err != nil {
		return 0, "", fmt.Errorf("cut the torn tail: %w", err)
	}
	cut, d.torn = d.torn, 0
	return cut, saved, nil
}

func (d *diskLog) saveTail(path string) error {
	from, err := os.Open(d.file.Name())
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, io.NewSectionReader(from, d.size, d.torn))
	if err == nil {
		err = to.Sync()
	}
	if closed := to.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	return flushDir(filepath.Dir(path))
}

func (d *diskLog) write(records []Record, durable bool) error {
	d.lines.buf.Reset()
	for _, r := range records {
		if err := d.lines.add(r); err != nil {
			return err
		}
	}
	n, err := d.file.Write(d.lines.buf.Bytes())
	d.size += int64(n)
	if err != nil {
		return err
	}
	if d.lines.buf.Cap() > 1<<20 {
		d.lines = newEncoder()
	}
	d.dirty = true
	if !durable {
		return nil
	}
	if err := d.file.Sync(); err != nil {
		return err
	}
	d.dirty = false
	return nil
}

func (d *diskLog) close() error {
	defer d.held.release()
	if d.file == nil {
		return nil
	}
	var err error
	if d.dirty {
		err = d.file.Sync()
	}
	if closed := d.file.Close(); err == nil {
		err = closed
	}
	return err
}

// makeDir makes a directory for its owner alone, and its parents.
func makeDir(path string) error {
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	if err := os.MkdirAll(path, 0o700); err != nil {
		return err
	}
	return flushDir(filepath.Dir(path))
}
