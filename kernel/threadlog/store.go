package threadlog

import (
	"context"
	"time"
)

// Schema is the version of the stored form that this package writes, and the highest that it opens for writing.
const Schema = 1

// Store keeps threads. [Disk] and [Memory] make the two that there are. Calls may overlap.
type Store interface {
	// Create begins a thread. Nothing is stored before the first [Turn] is appended: a thread that never gets a user
	// message leaves no trace.
	Create(ctx context.Context, h Header) (*Log, error)
	// Open opens a thread for writing. It waits 2 s for another writer and fails with an *[InUseError] then.
	Open(ctx context.Context, id string) (*Log, []Note, error)
	// Read takes a picture of a thread. It needs no lock and changes nothing.
	Read(ctx context.Context, id string) (*Picture, []Note, error)
	// List lists threads, the one updated last first. What can't be read is left out, with a note.
	List(ctx context.Context, f Filter) ([]Entry, []Note, error)
	// Fork makes a new thread of the records up to a place: a record number, an item id, or blank for the end of the
	// last turn. It fails with [ErrPlace] when there is no such place. The parent is not touched and may be in use.
	Fork(ctx context.Context, id, at string) (child string, err error)
}

// Header says what a new thread is. Every field may be blank.
type Header struct {
	Workspace string
	Mode      string
	Version   string // of the host
}

// Filter chooses threads of a listing. The zero value chooses every thread that is not archived.
type Filter struct {
	Workspace string // blank: any
	Archived  bool   // the archived ones instead of the others
	Limit     int    // 0: no limit
}

// Entry is one thread of a listing.
type Entry struct {
	ID        string
	Workspace string
	Created   time.Time
	Updated   time.Time // time of the last record
	Mode      string
	Title     string
	Turns     int
	Newer     bool // made by a newer host: can be read, not written
	InUse     bool // somebody writes to it
	Archived  bool
}

// State is what a thread's records say about it, the transcript apart.
type State struct {
	Thread   Thread // the first record
	Mode     string // of the last turn or change of mode
	Title    string
	Todos    []Todo // shared: not to be changed
	Provider string // of the last turn
	Model    string
	Turns    int
	Updated  time.Time
	Open     bool // a turn has not ended
}
