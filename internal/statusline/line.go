package statusline

import (
	"slices"
	"strings"

	"github.com/crystalkernel/crystal/internal/terminal"
	"github.com/crystalkernel/crystal/points/status"
)

// Listed is a contributed field as an operator chooses it.
type Listed struct {
	Name        string
	Description string // one line of at most 80 characters
	Plugin      string // the owner's id
}

// Cell is one field of a line.
type Cell struct{ Name, Text string }

// Line is what a client shows.
type Line struct {
	Cells       []Cell   // in the operator's order; fields without a text are left out
	Unavailable []string // names that no field has now; they stay in the operator's list
}

// Fields lists the contributed fields in their order.
func (s *Store) Fields() []Listed {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sync()
	out := make([]Listed, 0, len(s.fields))
	for _, f := range s.fields {
		out = append(out, Listed{Name: f.Name, Description: terminal.Line(f.Description, maxDescription), Plugin: f.Origin.ID()})
	}
	return out
}

// Line makes the line of the named fields. builtin gives the text of a field of the host; nil and blank are none. A name
// that is given twice counts once.
func (s *Store) Line(names []string, builtin func(name string) string) Line {
	var l Line
	var seen []string
	for _, name := range names {
		name = strings.ToLower(strings.TrimSpace(name))
		if slices.Contains(seen, name) {
			continue
		}
		seen = append(seen, name)
		text, known := s.cell(name, builtin)
		switch {
		case !known:
			l.Unavailable = append(l.Unavailable, name)
		case text != "":
			l.Cells = append(l.Cells, Cell{name, text})
		}
	}
	return l
}

// cell is the text of one field, and whether there is such a field. builtin is asked without the lock.
func (s *Store) cell(name string, builtin func(string) string) (text string, known bool) {
	if status.Builtin(name) {
		if builtin == nil {
			return "", true
		}
		return clean(builtin(name)), true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sync()
	_, known = s.owners[name]
	return s.text(name), known
}
