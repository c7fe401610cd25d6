package threadlog

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
)

// shortestPrefix is the length of the shortest prefix that stands for an id.
const shortestPrefix = 4

// entry is the picture's line in a listing.
func (p *Picture) entry() Entry {
	s := &p.state
	return Entry{
		ID: s.Thread.ID, Workspace: s.Thread.Workspace, Created: s.Thread.CreatedAt, Updated: s.Updated,
		Mode: s.Mode, Title: s.Title, Turns: s.Turns, Newer: s.Thread.Schema > Schema,
	}
}

// newestFirst sorts entries and cuts them to the limit.
func newestFirst(entries []Entry, limit int) []Entry {
	slices.SortFunc(entries, func(a, b Entry) int {
		if c := b.Updated.Compare(a.Updated); c != 0 {
			return c
		}
		return cmp.Compare(a.ID, b.ID)
	})
	if limit > 0 && len(entries) > limit {
		entries = entries[:limit]
	}
	return entries
}

// Find returns the thread whose id is, or begins with, prefix. It fails with [ErrNotFound] or, naming the threads, with
// [ErrAmbiguous]. A prefix has at least four characters.
func Find(ctx context.Context, s Store, prefix string) (Entry, error) {
	prefix = strings.ToLower(prefix)
	if len(prefix) < shortestPrefix || !isHex(prefix) {
		return Entry{}, fmt.Errorf("thread %q: %w: an id, or at least %d of its first characters, is needed",
			prefix, ErrNotFound, shortestPrefix)
	}
	var found []Entry
	for _, archived := range []bool{false, true} {
		entries, _, err := s.List(ctx, Filter{Archived: archived})
		if err != nil {
			return Entry{}, err
		}
		for _, e := range entries {
			if strings.HasPrefix(e.ID, prefix) {
				found = append(found, e)
			}
		}
	}
	switch len(found) {
	case 0:
		return Entry{}, fmt.Errorf("thread %q: %w", prefix, ErrNotFound)
	case 1:
		return found[0], nil
	}
	ids := make([]string, len(found))
	for i := range found {
		ids[i] = found[i].ID
	}
	return Entry{}, fmt.Errorf("thread %q: %w: %s", prefix, ErrAmbiguous, strings.Join(ids, ", "))
}

// Rename gives a thread another title: cleaned, one line, at most 80 characters.
func Rename(ctx context.Context, s Store, id, title string) error {
	l, _, err := s.Open(ctx, id)
	if err != nil {
		return err
	}
	err = l.Append(&Title{Text: title})
	if closed := l.Close(); err == nil {
		err = closed
	}
	return err
}
