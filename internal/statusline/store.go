package statusline

import (
	"sync"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/generations"
	"github.com/crystalkernel/crystal/plugins"
	"github.com/crystalkernel/crystal/points/status"
)

// Change is a text that is another one now; a blank one is gone.
type Change struct{ Name, Text string }

// Store keeps the texts of the fields of one registry. Make it with [New]. All methods may be called from any goroutine.
type Store struct {
	registry *contrib.Registry
	cancel   func()

	mu       sync.Mutex
	synced   bool
	revision uint64                     // of the fields below
	fields   []status.Admitted          // in their order
	owners   map[string]contrib.Origin  // of the fields, by name
	writers  map[contrib.Origin]*writer // the generations that may set texts
	noted    map[uint64]bool            // entries whose field was left out with a note
	shown    map[string]string          // the texts as readers know them
	notes    []contrib.Diagnostic       // to be recorded when the lock is given back
	readers  []*func(Change)
	changes  []Change // to be told
	telling  bool     // a goroutine is telling
}

// New makes a store. Close ends it.
func New(r *contrib.Registry) *Store {
	s := &Store{registry: r, writers: map[contrib.Origin]*writer{}, noted: map[uint64]bool{}, shown: map[string]string{}}
	s.cancel = r.Subscribe("status fields", func(e contrib.Event) {
		if e.Touches(status.Fields.Name()) {
			s.change(func() {})
		}
	})
	s.change(func() {})
	return s
}

// Close stops following the registry. It is idempotent.
func (s *Store) Close() { s.cancel() }

// Updates makes the [status.Updates] of one generation, which end with it.
func (s *Store) Updates(f plugins.Facts, l *generations.Lifetime) (status.Updates, error) {
	origin, err := contrib.Plugin(f.ID, f.Generation)
	if err != nil {
		return nil, err
	}
	w := &writer{store: s, origin: origin, life: l, texts: map[string]string{}, unknown: map[string]bool{}}
	// The lifetime has it after this, so nothing is left when it refuses.
	if err := l.OnClose("status fields", w.close); err != nil {
		return nil, err
	}
	s.change(func() { s.writers[origin] = w })
	return w, nil
}

// Load says that the plugins are loaded. Texts that active generations have set for fields that they do not own are
// dropped with a note; so are later ones. active reports whether a generation is.
func (s *Store) Load(active func(plugin, generation string) bool) {
	s.change(func() {
		for o, w := range s.writers {
			if active(o.ID(), o.Generation()) {
				w.settle()
			}
		}
	})
}

// Subscribe calls fn with each later change, one after another, outside of locks. fn may read the store. A cancelled
// subscriber gets no change that is told after the cancel.
func (s *Store) Subscribe(fn func(Change)) (cancel func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	own := &fn
	s.readers = append(s.readers[:len(s.readers):len(s.readers)], own)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		var rest []*func(Change)
		for _, r := range s.readers {
			if r != own {
				rest = append(rest, r)
			}
		}
		s.readers = rest
	}
}

// change brings the store in line with the registry, does something under its lock, and tells what came of it.
func (s *Store) change(do func()) {
	s.mu.Lock()
	s.sync()
	do()
	s.show()
	notes := s.notes
	s.notes = nil
	s.mu.Unlock()
	// Whoever listens is the host, and starts nothing in the name of the plugin that called.
	generations.Unlabelled(func() {
		for _, d := range notes {
			s.registry.Record(d)
		}
		s.tell()
	})
}

// sync takes over who owns which field. The lock is held.
func (s *Store) sync() {
	v := s.registry.View()
	if r := status.Fields.Revision(v); s.synced && r == s.revision {
		return
	} else {
		s.revision, s.synced = r, true
	}
	var omitted []status.Omitted
	s.fields, omitted = status.Admit(v)
	s.owners = make(map[string]contrib.Origin, len(s.fields))
	present := map[contrib.Origin]bool{}
	for _, f := range s.fields {
		s.owners[f.Name] = f.Origin
		present[f.Origin] = true
	}
	for _, o := range omitted {
		present[o.Entry.Origin] = true
		if !s.noted[o.Entry.ID] {
			s.noted[o.Entry.ID] = true
			s.notes = append(s.notes, leftOut(o))
		}
	}
	for o, w := range s.writers {
		switch {
		case present[o]:
			w.published = true
			w.settle()
		case w.published: // withdrawn, so the generation has stopped
			w.end()
		}
	}
}

// show compares the texts with those that readers know. The lock is held.
func (s *Store) show() {
	for _, f := range s.fields {
		if text := s.text(f.Name); text != s.shown[f.Name] {
			s.publish(f.Name, text)
		}
	}
	for name := range s.shown {
		if _, owned := s.owners[name]; !owned {
			s.publish(name, "")
		}
	}
}

// text is the text of a field; blank for none. The lock is held.
func (s *Store) text(name string) string {
	if w := s.writers[s.owners[name]]; w != nil {
		return w.texts[name]
	}
	return ""
}

func (s *Store) publish(name, text string) {
	if text == "" {
		delete(s.shown, name)
	} else {
		s.shown[name] = text
	}
	if len(s.readers) > 0 {
		s.changes = append(s.changes, Change{name, text})
	}
}

// tell tells what is queued, unless another goroutine is telling: then that one tells it.
func (s *Store) tell() {
	for s.tellNext() {
	}
}

func (s *Store) tellNext() (told bool) {
	s.mu.Lock()
	if s.telling || len(s.changes) == 0 {
		s.mu.Unlock()
		return false
	}
	c, readers := s.changes[0], s.readers
	s.changes = s.changes[1:]
	s.telling = true
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.telling = false
		s.mu.Unlock()
	}()
	for _, r := range readers {
		(*r)(c)
	}
	return true
}
