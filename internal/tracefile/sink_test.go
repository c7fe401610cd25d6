package tracefile_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/fx"
	"go.uber.org/fx/fxtest"

	"github.com/crystalkernel/crystal/internal/offline"
	"github.com/crystalkernel/crystal/internal/tracefile"
	"github.com/crystalkernel/crystal/kernel"
	"github.com/crystalkernel/crystal/points/trace"
)

type line struct {
	Type   string          `json:"type"`
	Time   time.Time       `json:"time"`
	Thread string          `json:"threadId"`
	Turn   string          `json:"turnId"`
	Data   json.RawMessage `json:"data"`
}

func read(t *testing.T, path string) (out []line) {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()
	s := bufio.NewScanner(f)
	for s.Scan() {
		var l line
		require.NoError(t, json.Unmarshal(s.Bytes(), &l), s.Text())
		out = append(out, l)
	}
	require.NoError(t, s.Err())
	return out
}

func event(text string) trace.Event {
	data, _ := json.Marshal(map[string]string{"type": "note", "message": text})
	return trace.Event{Type: "note", Thread: "t", Turn: "t1", Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.FixedZone("x", 3600)), Data: data}
}

func TestTheEventsOfATurnAreInTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	const runs = 20
	for range runs { // the later ones append
		var k *kernel.Kernel
		app := fxtest.New(t, fx.NopLogger, kernel.Module, offline.Module, tracefile.Module(path), fx.Populate(&k))
		app.RequireStart()
		th, err := k.Create(t.Context(), kernel.Options{})
		require.NoError(t, err)
		_, err = th.Run(t.Context(), kernel.Input{Text: "think hard"}, nil)
		require.NoError(t, err)
		app.RequireStop()
	}
	lines := read(t, path)
	require.NotEmpty(t, lines)
	assert.Equal(t, "turn_started", lines[0].Type)
	assert.Equal(t, "turn_ended", lines[len(lines)-1].Type, "the last event is there although the app was stopped at once")
	ends := 0
	for _, l := range lines {
		assert.NotEmpty(t, l.Thread)
		assert.Equal(t, "t1", l.Turn)
		assert.Contains(t, string(l.Data), `"type":"`+l.Type+`"`)
		if l.Type == "turn_ended" {
			ends++
		}
	}
	assert.Equal(t, runs, ends)
	i, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), i.Mode().Perm())
}

func TestTimesAreUTC(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	s, err := tracefile.Open(path)
	require.NoError(t, err)
	assert.Equal(t, "file", s.Name())
	require.NoError(t, s.Record(t.Context(), event("a")))
	require.NoError(t, s.Close())
	require.NoError(t, s.Close())
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, `{"type":"note","time":"2026-01-02T02:04:05Z","threadId":"t","turnId":"t1","data":{"message":"a","type":"note"}}`+"\n", string(data))
	assert.ErrorIs(t, s.Record(t.Context(), event("b")), tracefile.ErrClosed)
}

func TestAFullFileStopsTheSinkAndNothingElse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	s, err := tracefile.OpenSmall(path, 300)
	require.NoError(t, err)
	require.NoError(t, s.Record(t.Context(), event("first")))
	assert.ErrorIs(t, s.Record(t.Context(), event(strings.Repeat("x", 300))), tracefile.ErrFull)
	assert.NoError(t, s.Record(t.Context(), event("small")), "it says so once")
	require.NoError(t, s.Close())
	assert.Len(t, read(t, path), 1, "no line is cut")
}

func TestLinesOfSeveralGoroutinesAreWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	s, err := tracefile.Open(path)
	require.NoError(t, err)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 100 {
				assert.NoError(t, s.Record(t.Context(), event("x")))
			}
		})
	}
	all.Wait()
	require.NoError(t, s.Close())
	assert.Len(t, read(t, path), 400)
}

func TestWhatIsNoFileIsRefusedBeforeAnythingRuns(t *testing.T) {
	dir := t.TempDir()
	_, err := tracefile.Open(dir)
	assert.ErrorIs(t, err, tracefile.ErrNoFile)
	_, err = tracefile.Open(os.DevNull)
	assert.ErrorIs(t, err, tracefile.ErrNoFile)
	_, err = tracefile.Open(filepath.Join(dir, "no", "file"))
	assert.ErrorIs(t, err, os.ErrNotExist)
	app := fx.New(fx.NopLogger, kernel.Module, tracefile.Module(dir))
	assert.ErrorIs(t, app.Err(), tracefile.ErrNoFile)
}

func BenchmarkRecord(b *testing.B) {
	s, err := tracefile.Open(filepath.Join(b.TempDir(), "trace.jsonl"))
	require.NoError(b, err)
	defer func() { require.NoError(b, s.Close()) }()
	e := event("a note of usual length, such as they are")
	b.ReportAllocs()
	for b.Loop() {
		if err := s.Record(b.Context(), e); err != nil {
			b.Fatal(err)
		}
	}
}
