package tool

import "context"

// SourceMeta is what the registry keeps of a source (EntryInfo.Meta).
type SourceMeta struct {
	ID string
	// Fixed says that the source is a [FixedSource].
	Fixed bool
}

// FixedSource is for a source whose answer depends on nothing but its planning input, the ids of thread and turn left
// out. While every source of a thread is one, and no point changes, the plan of the turn before is used again without
// asking them. FixedTools does nothing: having it is the promise.
type FixedSource interface {
	Source
	FixedTools()
}

// Fixed makes a source of registrations that never change: neither the slice nor what it refers to may be changed
// afterwards.
func Fixed(id string, registrations ...Registration) Source {
	return &fixedSource{id: id, registrations: registrations}
}

type fixedSource struct {
	id            string
	registrations []Registration
}

func (s *fixedSource) SourceID() string { return s.id }
func (s *fixedSource) FixedTools()      {}
func (s *fixedSource) Tools(context.Context, Planning) ([]Registration, error) {
	return s.registrations, nil
}
