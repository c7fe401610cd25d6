package tool

import "context"

// SourceMeta is what the registry keeps of a source (EntryInfo.Meta).
type SourceMeta struct {
	ID string
	// Fixed says that the source always answers the same: while no point changes, the plan of the turn before is used
	// again without asking it.
	Fixed bool
}

// FixedSource is for a source whose answer never changes while it is contributed, whatever it is asked for. Reading
// FixedTools at the add is the whole registration: the slice and what it refers to must not change afterwards.
type FixedSource interface {
	Source
	FixedTools() []Registration
}

// Fixed makes a source of registrations that never change.
func Fixed(id string, registrations ...Registration) FixedSource {
	return &fixedSource{id: id, registrations: registrations}
}

type fixedSource struct {
	id            string
	registrations []Registration
}

func (s *fixedSource) SourceID() string           { return s.id }
func (s *fixedSource) FixedTools() []Registration { return s.registrations }
func (s *fixedSource) Tools(context.Context, Planning) ([]Registration, error) {
	return s.registrations, nil
}
