package threadlog

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"
)

// MemoryStore keeps threads as values and loses them with the process. Use [Memory] to make one.
type MemoryStore struct {
	mu      sync.Mutex
	threads map[string]*memoryThread
	media   memoryMedia
}

var _ Store = (*MemoryStore)(nil)

// Memory makes a store that keeps records as values and loses them with the process.
func Memory() *MemoryStore { return &MemoryStore{threads: make(map[string]*memoryThread)} }

// memoryThread is one thread of a MemoryStore, and the sink of the log that writes to it.
type memoryThread struct {
	id      string
	store   *MemoryStore
	mu      sync.Mutex
	records []Record // grows at its end
	busy    bool
}

func (m *memoryThread) begin() error {
	m.mu.Lock()
	m.busy = true
	m.mu.Unlock()
	m.store.mu.Lock()
	m.store.threads[m.id] = m
	m.store.mu.Unlock()
	return nil
}

func (m *memoryThread) repair(time.Time) (int64, string, error) { return 0, "", nil }

func (m *memoryThread) write(records []Record, _ bool) error {
	m.mu.Lock()
	m.records = append(m.records, records...)
	m.mu.Unlock()
	return nil
}

func (m *memoryThread) close() error {
	m.mu.Lock()
	m.busy = false
	m.mu.Unlock()
	return nil
}

func (m *memoryThread) all() []Record {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.records[:len(m.records):len(m.records)]
}

// Create implements [Store].
func (s *MemoryStore) Create(_ context.Context, h Header) (*Log, error) {
	id := newID()
	return newLog(id, h, &memoryThread{id: id, store: s}, &s.media), nil
}

// Open implements [Store]. A thread that is open fails at once.
func (s *MemoryStore) Open(_ context.Context, id string) (*Log, []Note, error) {
	m, err := s.find(id)
	if err != nil {
		return nil, nil, err
	}
	m.mu.Lock()
	busy := m.busy
	m.busy = true
	m.mu.Unlock()
	if busy {
		return nil, nil, &InUseError{Thread: id, Process: os.Getpid()}
	}
	records := m.all()
	var t transcript
	for _, r := range records {
		t.feed(r)
	}
	l, notes := openLog(id, t, records[len(records)-1].stamp().Seq, 0, m, &s.media)
	return l, notes, nil
}

func (s *MemoryStore) find(id string) (*memoryThread, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.threads[id]
	if m == nil || len(m.all()) == 0 { // it is about to be made
		return nil, fmt.Errorf("thread %s: %w", id, ErrNotFound)
	}
	return m, nil
}

// Read implements [Store].
func (s *MemoryStore) Read(_ context.Context, id string) (*Picture, []Note, error) {
	m, err := s.find(id)
	if err != nil {
		return nil, nil, err
	}
	return newPicture(m.all()), nil, nil
}

// List implements [Store].
func (s *MemoryStore) List(_ context.Context, f Filter) ([]Entry, []Note, error) {
	if f.Archived {
		return nil, nil, nil
	}
	s.mu.Lock()
	threads := make([]*memoryThread, 0, len(s.threads))
	for _, m := range s.threads {
		threads = append(threads, m)
	}
	s.mu.Unlock()
	var entries []Entry
	for _, m := range threads {
		records := m.all()
		if len(records) == 0 {
			continue
		}
		e := newPicture(records).entry()
		if f.Workspace != "" && f.Workspace != e.Workspace {
			continue
		}
		m.mu.Lock()
		e.InUse = m.busy
		m.mu.Unlock()
		entries = append(entries, e)
	}
	return newestFirst(entries, f.Limit), nil, nil
}

// Delete forgets a thread. One that is in use fails with an *[InUseError].
func (s *MemoryStore) Delete(_ context.Context, id string) error {
	m, err := s.find(id)
	if err != nil {
		return err
	}
	m.mu.Lock()
	busy := m.busy
	m.mu.Unlock()
	if busy {
		return &InUseError{Thread: id, Process: os.Getpid()}
	}
	s.mu.Lock()
	delete(s.threads, id)
	s.mu.Unlock()
	return nil
}

// memoryMedia keeps image bytes in memory.
type memoryMedia struct {
	mu    sync.Mutex
	bytes map[string][]byte
}

var errNoImage = errors.New("no such image")

func (m *memoryMedia) put(name string, data []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.bytes == nil {
		m.bytes = make(map[string][]byte)
	}
	if _, ok := m.bytes[name]; !ok {
		m.bytes[name] = slices.Clone(data)
	}
	return nil
}

func (m *memoryMedia) get(name string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	data, ok := m.bytes[name]
	if !ok {
		return nil, errNoImage
	}
	return data, nil
}
