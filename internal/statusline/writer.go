package statusline

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/generations"
	"github.com/crystalkernel/crystal/points/status"
)

// maxNames is how many names that a generation does not own are kept, before its fields are known and for its notes.
const maxNames = 64

// writer is what one generation sets texts with.
type writer struct {
	store  *Store
	origin contrib.Origin
	life   *generations.Lifetime

	// Under the store's lock.
	texts     map[string]string
	unknown   map[string]bool // names that cost a note
	published bool            // its fields were in a view
	settled   bool            // what fields it has is known
	ended     bool
}

var _ status.Updates = (*writer)(nil)

// Set implements status.Updates.
func (w *writer) Set(name, text string) { w.put(name, clean(text)) }

// Clear implements status.Updates.
func (w *writer) Clear(name string) { w.put(name, "") }

func (w *writer) put(name, text string) {
	if w.life.Context().Err() != nil {
		return
	}
	name = strings.ToLower(strings.TrimSpace(name))
	w.store.change(func() {
		switch {
		case w.ended:
		case w.settled && !w.owns(name):
			w.refuse(name)
		case text == "":
			delete(w.texts, name)
		default:
			if _, known := w.texts[name]; known || w.settled || len(w.texts) < maxNames {
				w.texts[name] = text
			}
		}
	})
}

func (w *writer) owns(name string) bool { return w.store.owners[name] == w.origin }

// settle drops what is not the generation's. The lock is held.
func (w *writer) settle() {
	if w.settled {
		return
	}
	w.settled = true
	for _, name := range slices.Sorted(maps.Keys(w.texts)) {
		if !w.owns(name) {
			delete(w.texts, name)
			w.refuse(name)
		}
	}
}

// refuse notes a name that is not the generation's, once. The lock is held.
func (w *writer) refuse(name string) {
	if w.unknown[name] || len(w.unknown) == maxNames {
		return
	}
	w.unknown[name] = true
	w.store.notes = append(w.store.notes, unknown(w.origin, name))
}

// end makes later calls do nothing. The lock is held.
func (w *writer) end() {
	w.ended = true
	w.texts = nil
}

// close forgets the generation.
func (w *writer) close(context.Context) error {
	w.store.change(func() {
		w.end()
		delete(w.store.writers, w.origin)
	})
	return nil
}
