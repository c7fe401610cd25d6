package generations

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/crystalkernel/crystal/contrib"
)

// material is an object of the plugin that a guard made for the host. Once it is closed it holds nothing of the plugin,
// because its user may keep the function that closes it.
type material struct {
	entry
	mu      sync.Mutex
	home    *home        // nil once closed
	closeIt func() error // nil once closed
}

// materialise remembers an object until its user or the generation closes it.
func (h *home) materialise(e entry, closeIt func() error) (func() error, error) {
	m := &material{entry: e, home: h, closeIt: closeIt}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.released {
		return nil, contrib.ErrUnavailable
	}
	h.serial++
	h.made[m] = h.serial
	return m.close, nil
}

// close is what the user closes the object with. Behind a closed gate it leaves that to the generation.
func (m *material) close() error {
	m.mu.Lock()
	h, closeIt := m.home, m.closeIt
	if closeIt == nil {
		m.mu.Unlock()
		return nil
	}
	cell := m.gate.enter()
	if cell == nil {
		m.mu.Unlock()
		return nil
	}
	m.home, m.closeIt = nil, nil
	m.mu.Unlock()
	defer m.gate.leave(cell)

	h.mu.Lock()
	delete(h.made, m)
	h.mu.Unlock()
	was := goroutineLabels()
	setGoroutineLabels(h.core.labels)
	defer setGoroutineLabels(was)
	return m.failure(h.core.inline("close", closeIt))
}

// failure is the error with the fixed text for one that was logged.
func (m *material) failure(err error) error {
	if err == nil {
		return nil
	}
	e := &contrib.CallError{Cause: contrib.CauseError, Point: m.point, Origin: m.origin, Label: m.label}
	if errors.Is(err, errPanic) {
		e.Cause = contrib.CausePanic
	}
	return e
}

// closeMade closes what users left open, newest first, and reports the labels of what failed.
func (h *home) closeMade() (failed []string) {
	h.mu.Lock()
	made := h.made
	h.made = nil
	h.released = true
	h.mu.Unlock()
	newest := slices.SortedFunc(maps.Keys(made), func(a, b *material) int { return cmp.Compare(made[b], made[a]) })
	for _, m := range newest {
		m.mu.Lock()
		closeIt := m.closeIt
		m.home, m.closeIt = nil, nil
		m.mu.Unlock()
		if closeIt != nil && h.core.contain("release", closeIt) != nil {
			failed = append(failed, m.label)
		}
	}
	return failed
}
