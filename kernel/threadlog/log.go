package threadlog

import (
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/crystalkernel/crystal/points/model"
)

// Log is one thread, open for writing. It is used by one turn at a time; all methods may be called from several
// goroutines.
type Log struct {
	id    string
	sink  sink
	media media

	lastItem  atomic.Int64
	lastImage atomic.Int64

	writing sync.Mutex // held while a record is stored; guards what follows
	seq     int64
	early   []Record // stored with the first record that makes the thread real
	begun   bool
	mend    *mend // what the first append repairs; nil: nothing
	failed  error // why the log is closed for writing
	one     [1]Record

	reading sync.RWMutex // guards transcript; taken after writing
	transcript
}

// sink is where a log's records go. Its methods are not called from two goroutines at once.
type sink interface {
	// begin makes the thread: it takes the lock and the place of the records.
	begin() error
	// repair saves and cuts the torn tail, and returns the name of the copy; blank when nothing was torn.
	repair(now time.Time) (cut int64, saved string, err error)
	// write stores records in order. With durable they are on stable storage afterwards, and all that came before.
	write(records []Record, durable bool) error
	close() error
}

// mend is what is wrong with a log that was opened.
type mend struct {
	torn    int64 // bytes of the tail
	closing []Record
}

// newLog makes the log of a thread that does not exist yet.
func newLog(id string, h Header, s sink, m media) *Log {
	l := &Log{id: id, sink: s, media: m}
	now := time.Now().UTC()
	l.keep(&Thread{
		Schema: Schema, ID: id, CreatedAt: now,
		Workspace: h.Workspace, Mode: h.Mode, Version: h.Version,
	}, now)
	return l
}

// openLog makes the log of a thread that was read.
func openLog(id string, t transcript, lastSeq, torn int64, s sink, m media) (*Log, []Note) {
	l := &Log{id: id, sink: s, media: m, seq: lastSeq, begun: true, transcript: t}
	l.lastImage.Store(t.lastImage)
	l.lastItem.Store(t.lastItem)
	closing := t.closing()
	if torn == 0 && len(closing) == 0 {
		return l, nil
	}
	l.mend = &mend{torn: torn, closing: closing}
	for _, r := range closing {
		l.prepare(r)
		l.feed(r)
	}
	return l, []Note{{Code: ThreadRepaired, Thread: id, Message: repaired(torn, closing)}}
}

func repaired(torn int64, closing []Record) string {
	switch calls := len(closing) - 1; {
	case calls < 0:
		return fmt.Sprintf("the last line was torn and is left out: %d bytes", torn)
	case torn == 0:
		return fmt.Sprintf("the last turn was cut off and is closed; calls without a result: %d", calls)
	default:
		return fmt.Sprintf("the last turn was cut off and is closed; calls without a result: %d; "+
			"the last line was torn and is left out: %d bytes", calls, torn)
	}
}

// ID returns the thread's id.
func (l *Log) ID() string { return l.id }

// Append stores a record and takes it over: neither it nor its items may be changed afterwards. Seq and Time are set
// here; so are the ids of items that have none; bad UTF-8 in items becomes U+FFFD.
//
// When Append returns nil, a commit point (thread, turn, round, call, result, turn_end, compaction) is on stable
// storage. An error other than [ErrRecord] closes the log for writing.
func (l *Log) Append(r Record) error {
	if !appendable(r) {
		return fmt.Errorf("thread %s: append: %w", l.id, ErrRecord)
	}
	l.writing.Lock()
	defer l.writing.Unlock()
	if l.failed != nil {
		return fmt.Errorf("thread %s: append %s record: %w", l.id, r.Kind(), l.failed)
	}
	now := time.Now().UTC()
	if l.mend != nil {
		if err := l.repair(now); err != nil {
			return l.fail("repair the log", err)
		}
	}
	l.prepare(r)
	if !l.begun {
		if !begins(r) {
			l.keep(r, now)
			return nil
		}
		if err := l.begin(); err != nil {
			return l.fail("make the log", err)
		}
	}
	if err := l.store(r, now); err != nil {
		return l.fail("append "+r.Kind()+" record", err)
	}
	return nil
}

// fail closes the log for writing.
func (l *Log) fail(what string, err error) error {
	err = fmt.Errorf("thread %s: %s: record %d: %w", l.id, what, l.seq, err)
	l.failed = fmt.Errorf("%w: %w", ErrClosed, err)
	return err
}

// begins reports whether a thread exists from this record on.
func begins(r Record) bool {
	switch r.(type) {
	case *Turn, *Compaction:
		return true
	}
	return false
}

// begin stores what came before the first user message.
func (l *Log) begin() error {
	if err := l.sink.begin(); err != nil {
		return err
	}
	l.begun = true
	early := l.early
	l.early = nil
	return l.sink.write(early, false)
}

// keep takes a record that is stored later.
func (l *Log) keep(r Record, now time.Time) {
	l.number(r, now)
	l.early = append(l.early, r)
	l.take(r)
}

// store writes a record and lets the transcript know.
func (l *Log) store(r Record, now time.Time) error {
	l.number(r, now)
	l.one[0] = r
	if err := l.sink.write(l.one[:], r.durable()); err != nil {
		return err
	}
	l.take(r)
	return nil
}

func (l *Log) number(r Record, now time.Time) {
	l.seq++
	*r.stamp() = Stamp{Seq: l.seq, Time: now}
}

func (l *Log) take(r Record) {
	l.reading.Lock()
	l.feed(r)
	l.reading.Unlock()
}

// repair cuts the torn tail and stores what closes the cut-off turn. The transcript knows it already.
func (l *Log) repair(now time.Time) error {
	record := new(Repair)
	if l.mend.torn > 0 {
		var err error
		if record.Cut, record.Saved, err = l.sink.repair(now); err != nil {
			return err
		}
	}
	records := append(make([]Record, 0, len(l.mend.closing)+1), record)
	for _, r := range l.mend.closing {
		if result, ok := r.(*Result); ok {
			record.Closed = append(record.Closed, result.CallID)
		}
		records = append(records, r)
	}
	for _, r := range records {
		l.number(r, now)
	}
	l.mend = nil
	return l.sink.write(records, true)
}

// prepare gives ids to items that have none, and tidies their texts.
func (l *Log) prepare(r Record) {
	switch r := r.(type) {
	case *Turn:
		l.tidy(r.Item)
	case *Round:
		for _, it := range r.Items {
			l.tidy(it)
		}
	case *Result:
		l.tidy(r.Item)
	case *Compaction:
		l.tidy(r.Summary)
	case *Title:
		r.Text = CleanTitle(r.Text)
	}
}

// Items returns the items that the next request holds: the last summary, if any, and what came after it, pruned, with one
// result for each call. The slice and its items are shared and must not be changed; appending to it copies.
func (l *Log) Items() []*model.Item {
	l.reading.RLock()
	defer l.reading.RUnlock()
	return l.request()
}

// Pruned reports whether the text of a tool result was dropped.
func (l *Log) Pruned(item string) bool {
	l.reading.RLock()
	defer l.reading.RUnlock()
	return l.pruned[item]
}

// Summary returns the summary with which the items begin; nil when nothing was compacted.
func (l *Log) Summary() *model.Item {
	l.reading.RLock()
	defer l.reading.RUnlock()
	return l.summary
}

// System returns the system text that was recorded last for a mode; ok is false when there is none.
func (l *Log) System(mode string) (text string, ok bool) {
	l.reading.RLock()
	defer l.reading.RUnlock()
	text, ok = l.systems[mode]
	return text, ok
}

// State returns what the records say about the thread.
func (l *Log) State() State {
	l.reading.RLock()
	defer l.reading.RUnlock()
	return l.state
}

// NextItemID reserves an item id.
func (l *Log) NextItemID() string {
	var b [20]byte
	return string(strconv.AppendInt(append(b[:0], 'i'), l.lastItem.Add(1), 10))
}

// Close flushes what was appended and releases the lock. Later appends fail with [ErrClosed]. Idempotent.
func (l *Log) Close() error {
	l.writing.Lock()
	defer l.writing.Unlock()
	if l.sink == nil {
		return nil
	}
	if l.failed == nil {
		l.failed = ErrClosed
	}
	err := l.sink.close()
	l.sink = nil
	if err != nil {
		return fmt.Errorf("thread %s: close: %w", l.id, err)
	}
	return nil
}
