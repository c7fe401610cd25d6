package threadlog

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/points/model"
)

// These tests are inside of the package: they put a fault below a log.

func userTurn() *Turn {
	return &Turn{Turn: "t1", Item: &model.Item{Kind: model.Message, Role: model.User, Text: "hi"}}
}

// shortSink writes a part of the lines of the next write, and fails.
type shortSink struct {
	*diskLog
	err error
}

func (s *shortSink) write(records []Record, _ bool) error {
	s.lines.buf.Reset()
	for _, r := range records {
		if err := s.lines.add(r); err != nil {
			return err
		}
	}
	line := s.lines.buf.Bytes()
	if _, err := s.file.Write(line[:len(line)/2]); err != nil {
		return err
	}
	return s.err
}

// watchingSink notes which records were flushed before the append returned.
type watchingSink struct {
	memoryThread
	flushed map[string]bool
}

func (w *watchingSink) write(records []Record, durable bool) error {
	for _, r := range records {
		w.flushed[r.Kind()] = durable
	}
	return nil
}

func TestCommitPointsAreFlushed(t *testing.T) {
	w := &watchingSink{memoryThread: memoryThread{store: Memory()}, flushed: make(map[string]bool)}
	l := newLog(newID(), Header{}, w, &w.store.media)
	turn := userTurn()
	summary := &model.Item{Kind: model.Message, Role: model.System, Text: "s"}
	result := &model.Item{Kind: model.ToolResult}
	for _, r := range []Record{
		turn, &System{}, &Round{}, &Call{}, &Result{Item: result}, &Partial{}, &TurnEnd{}, &Prune{}, &Compaction{Summary: summary},
		&Todos{}, &Mode{}, &Title{},
	} {
		require.NoError(t, l.Append(r))
	}
	delete(w.flushed, "thread") // with the turn behind it
	assert.Equal(t, map[string]bool{
		"turn": true, "round": true, "call": true, "result": true, "turn_end": true, "compaction": true,
		"system": false, "partial": false, "prune": false, "todos": false, "mode": false, "title": false,
	}, w.flushed)
}

func TestADiskThatIsFull(t *testing.T) {
	home := t.TempDir()
	s := Disk(home)
	l, err := s.Create(t.Context(), Header{})
	require.NoError(t, err)
	require.NoError(t, l.Append(userTurn()))
	before := l.Items()
	full := errors.New("no space left")
	d, ok := l.sink.(*diskLog)
	require.True(t, ok)
	l.sink = &shortSink{diskLog: d, err: full}

	err = l.Append(&TurnEnd{Turn: "t1", Stop: "completed"})
	require.ErrorIs(t, err, full)
	assert.Contains(t, err.Error(), "append turn_end record: record 3", "the note says where")
	err = l.Append(userTurn())
	require.ErrorIs(t, err, ErrClosed)
	require.ErrorIs(t, err, full, "and later ones say why")
	assert.Equal(t, before, l.Items(), "what was not stored is not there")
	require.NoError(t, l.Close())

	again, notes, err := s.Open(t.Context(), l.ID())
	require.NoError(t, err, "what was written stays valid")
	require.Len(t, notes, 1)
	assert.Contains(t, notes[0].Message, "torn")
	require.NoError(t, again.Append(userTurn()))
	require.NoError(t, again.Close())
	data, err := os.ReadFile(filepath.Join(home, "threads", l.ID()+".jsonl"))
	require.NoError(t, err)
	assert.Equal(t, 5, strings.Count(string(data), "\n"), "thread, turn, repair, turn_end, turn and nothing torn")
}

func TestARepairThatFails(t *testing.T) {
	home := t.TempDir()
	s := Disk(home)
	l, err := s.Create(t.Context(), Header{})
	require.NoError(t, err)
	require.NoError(t, l.Append(userTurn()))
	require.NoError(t, l.Close())
	path := filepath.Join(home, "threads", l.ID()+".jsonl")
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	torn := append(data, "{\"half"...)
	require.NoError(t, os.WriteFile(path, torn, 0o600))

	again, _, err := s.Open(t.Context(), l.ID())
	require.NoError(t, err)
	require.NoError(t, os.Rename(path, path+".away")) // its bytes can't be saved
	err = again.Append(userTurn())
	require.Error(t, err)
	assert.Contains(t, err.Error(), "save the torn tail")
	require.ErrorIs(t, again.Append(userTurn()), ErrClosed)
	require.NoError(t, again.Close())
	data, err = os.ReadFile(path + ".away")
	require.NoError(t, err)
	assert.Equal(t, torn, data, "nothing is cut that was not saved")
}

func TestNumbersOfManyLines(t *testing.T) {
	list := make([]int, 102)
	assert.True(t, strings.HasSuffix(numbers(list), "0 and 2 more"))
}
