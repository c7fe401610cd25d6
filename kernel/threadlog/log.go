package threadlog

import "github.com/crystalkernel/crystal/points/model"

// Log is one thread, open for writing. It is used by one turn at a time; all methods may be called from several
// goroutines.
type Log struct{}

// ID returns the thread's id.
func (l *Log) ID() string { panic("stub") }

// Append stores a record and takes it over: neither it nor its items may be changed afterwards. Seq and Time are set
// here; so are the ids of items that have none; bad UTF-8 in items becomes U+FFFD.
//
// When Append returns nil, a commit point (thread, turn, round, call, result, turn_end, compaction) is on stable
// storage. An error other than [ErrRecord] closes the log for writing.
func (l *Log) Append(r Record) error { panic("stub") }

// Items returns the items that the next request holds: the last summary, if any, and what came after it, pruned, with one
// result for each call. The slice and its items are shared and must not be changed; appending to it copies.
func (l *Log) Items() []*model.Item { panic("stub") }

// System returns the system text that was recorded last for a mode; ok is false when there is none.
func (l *Log) System(mode string) (text string, ok bool) { panic("stub") }

// State returns what the records say about the thread.
func (l *Log) State() State { panic("stub") }

// Picture returns the thread as it stands, for readers.
func (l *Log) Picture() *Picture { panic("stub") }

// NextItemID reserves an item id.
func (l *Log) NextItemID() string { panic("stub") }

// AddImage stores the bytes of an image and gives it its number in the thread. It fails with [ErrImage] when the media
// type is not accepted, the bytes are of another type, or there are more than 20 MiB of them.
func (l *Log) AddImage(mediaType string, data []byte) (model.Image, error) { panic("stub") }

// Images prepares items for a request: with accepts, images of user messages and tool results get their bytes, others
// become plain text. Only items with images are copied, and without any the given slice is returned. An image whose
// bytes are gone becomes plain text, with a note.
func (l *Log) Images(items []*model.Item, accepts bool) ([]*model.Item, []Note) { panic("stub") }

// Close flushes what was appended and releases the lock. Later appends fail with [ErrClosed]. Idempotent.
func (l *Log) Close() error { panic("stub") }

// Picture is a thread at one instant, for readers: it does not change.
type Picture struct{}

// State returns what the records say about the thread.
func (p *Picture) State() State { panic("stub") }

// Items returns what a request holds.
func (p *Picture) Items() []*model.Item { panic("stub") }

// Transcript returns the items as a request would hold them had nothing been compacted or pruned.
func (p *Picture) Transcript() []*model.Item { panic("stub") }

// Records returns the records that could be read.
func (p *Picture) Records() []Record { panic("stub") }

// Memory makes a store that keeps records as values and loses them with the process.
func Memory() Store { panic("stub") }

// Disk makes a store under the home directory.
func Disk(home string) Store { panic("stub") }
