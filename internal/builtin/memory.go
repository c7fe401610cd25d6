package builtin

import (
	"context"
	"crypto/sha256"
	"sync"
)

// stamp is what a thread knows of a file's content.
type stamp [sha256.Size]byte

// memory keeps, for each thread, which files it has read or written and what was in them then. The zero value is ready.
type memory struct {
	mu      sync.Mutex
	threads map[string]map[string]stamp // thread, resolved path
}

func (m *memory) put(thread, path string, s stamp) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.threads == nil {
		m.threads = map[string]map[string]stamp{}
	}
	files := m.threads[thread]
	if files == nil {
		files = map[string]stamp{}
		m.threads[thread] = files
	}
	files[path] = s
}

func (m *memory) get(thread, path string) (stamp, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, ok := m.threads[thread][path]
	return s, ok
}

func (m *memory) release(thread string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.threads, thread)
}

// locks lets one call at a time change a file. The zero value is ready.
type locks struct {
	mu   sync.Mutex
	held map[string]*lock // resolved path
}

type lock struct {
	free  chan struct{} // holds one token when nobody has the lock
	users int           // those who have it or wait for it
}

// take waits for the lock of a path. The caller calls release.
func (l *locks) take(ctx context.Context, path string) (release func(), err error) {
	l.mu.Lock()
	if l.held == nil {
		l.held = map[string]*lock{}
	}
	one := l.held[path]
	if one == nil {
		one = &lock{free: make(chan struct{}, 1)}
		one.free <- struct{}{}
		l.held[path] = one
	}
	one.users++
	l.mu.Unlock()

	leave := func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if one.users--; one.users == 0 {
			delete(l.held, path)
		}
	}
	select {
	case <-one.free:
		return func() {
			one.free <- struct{}{}
			leave()
		}, nil
	case <-ctx.Done():
		leave()
		return nil, ctx.Err()
	}
}
