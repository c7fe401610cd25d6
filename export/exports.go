package export

import (
	"reflect"
	"slices"
	"strings"
	"sync"
)

// Exports holds what one plugin exports. A host makes one for each time that a plugin is built, seals it when the plugin
// has started and drops it when the plugin stops. It may be used from any goroutine.
type Exports struct {
	mu     sync.Mutex
	values map[reflect.Type]any
	sealed bool
}

// NewExports returns an empty table.
func NewExports() *Exports { return &Exports{values: map[reflect.Type]any{}} }

// Seal refuses further exports.
func (e *Exports) Seal() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.sealed = true
}

// Drop seals the table and lets go of all values.
func (e *Exports) Drop() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.sealed, e.values = true, nil
}

// Contracts returns the exported interfaces, sorted by contract name.
func (e *Exports) Contracts() []reflect.Type {
	e.mu.Lock()
	defer e.mu.Unlock()
	out := make([]reflect.Type, 0, len(e.values))
	for t := range e.values {
		out = append(out, t)
	}
	slices.SortFunc(out, func(a, b reflect.Type) int { return strings.Compare(contractOf(a), contractOf(b)) })
	return out
}

func (e *Exports) add(s slot) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.sealed {
		return ErrSealed
	}
	if isNil(s.value) {
		return &ExportError{contractOf(s.contract), Nil}
	}
	if _, taken := e.values[s.contract]; taken {
		return &ExportError{contractOf(s.contract), Duplicate}
	}
	e.values[s.contract] = s.value
	return nil
}

func (e *Exports) find(t reflect.Type) (any, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	v, ok := e.values[t]
	return v, ok
}

// isNil sees through an interface that holds a nil pointer, map, slice, func or channel.
func isNil(v any) bool {
	if v == nil {
		return true
	}
	switch r := reflect.ValueOf(v); r.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice, reflect.Func, reflect.Chan:
		return r.IsNil()
	}
	return false
}
