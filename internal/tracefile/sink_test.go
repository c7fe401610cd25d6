package tracefile_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/crystalkernel/crystal/internal/tracefile"
	"github.com/crystalkernel/crystal/kernel"
	"github.com/crystalkernel/crystal/kernel/kerneltest"
	"github.com/crystalkernel/crystal/points/trace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

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

func openSink(t *testing.T, path string) *tracefile.Sink {
	t.Helper()
	s, err := tracefile.Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func TestTheEventsOfATurnAreInTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	const runs = 20
	for i := range runs { // the later ones append
		t.Run(strconv.Itoa(i), func(t *testing.T) { // at whose end the app is stopped, at once
			k := kerneltest.Start(t, kerneltest.Script(kerneltest.Step{Reasoning: "think", Text: "done"}), tracefile.Module(openSink(t, path)))
			require.Equal(t, kernel.Completed, k.Run("go").Result.Stop)
		})
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
}

func TestTheFileIsItsOwnersAlone(t *testing.T) {
	dir := t.TempDir()
	openSink(t, filepath.Join(dir, "a", "b", "trace.jsonl"))
	for name, mode := range map[string]os.FileMode{"a": 0o700, "a/b": 0o700, "a/b/trace.jsonl": 0o600} {
		i, err := os.Stat(filepath.Join(dir, name))
		require.NoError(t, err)
		assert.Equal(t, mode, i.Mode().Perm(), name)
	}
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

func TestAFullFileSaysSoAndGrowsNoMore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	const most = 300
	for range 3 {
		s, err := tracefile.OpenSmall(path, most)
		require.NoError(t, err)
		for range 3 {
			err = errors.Join(err, s.Record(t.Context(), event("a")))
		}
		assert.ErrorIs(t, err, tracefile.ErrFull)
		assert.ErrorContains(t, err, path)
		assert.Equal(t, 1, strings.Count(err.Error(), path), "the sink says so once")
		require.NoError(t, s.Close())
	}
	lines := read(t, path)
	require.Len(t, lines, 2, "no line is cut, and opening a full file adds nothing")
	assert.Equal(t, "trace_full", lines[1].Type)
	assert.JSONEq(t, `{"bytes":300}`, string(lines[1].Data))
	i, err := os.Stat(path)
	require.NoError(t, err)
	assert.LessOrEqual(t, i.Size(), int64(most))
}

// A process that was killed may leave half a line.
func TestALineThatWasCutIsEndedBeforeTheNext(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	require.NoError(t, os.WriteFile(path, []byte("{\"type\":\"no"), 0o600))
	s := openSink(t, path)
	require.NoError(t, s.Record(t.Context(), event("a")))
	require.NoError(t, s.Record(t.Context(), event("b")))
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	lines := strings.Split(string(data), "\n")
	require.Len(t, lines, 4)
	assert.Equal(t, `{"type":"no`, lines[0])
	assert.True(t, json.Valid([]byte(lines[1])) && json.Valid([]byte(lines[2])), string(data))
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

func TestWhatIsNoFileIsRefused(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{dir, os.DevNull, ""} {
		_, err := tracefile.Open(path)
		assert.ErrorIs(t, err, tracefile.ErrNoFile)
	}
	file := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err := tracefile.Open(filepath.Join(file, "trace.jsonl"))
	assert.ErrorContains(t, err, "not a directory")
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
