package tracefile_test

import (
	"bytes"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/fx"
	"golang.org/x/sys/unix"

	"github.com/crystalkernel/crystal/internal/tracefile"
	"github.com/crystalkernel/crystal/kernel"
	"github.com/crystalkernel/crystal/kernel/kerneltest"
	"github.com/crystalkernel/crystal/points/trace"
)

// limitFiles lets the files of this process grow to bytes and no further, as on a disk that is full, until give is called.
func limitFiles(t *testing.T, bytes uint64) (give func()) {
	t.Helper()
	told := make(chan os.Signal, 1)
	signal.Notify(told, unix.SIGXFSZ) // which would end the process
	var before unix.Rlimit
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_FSIZE, &before))
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: bytes, Max: before.Max}))
	var once sync.Once
	give = func() {
		once.Do(func() {
			require.NoError(t, unix.Setrlimit(unix.RLIMIT_FSIZE, &before))
			signal.Stop(told)
		})
	}
	t.Cleanup(give)
	return give
}

func TestADiskThatIsFullCostsEventsAndNotTheTurn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	var logged bytes.Buffer // written by the one goroutine that serves the sink
	k := kerneltest.Start(t, kerneltest.Script(), tracefile.Module(openSink(t, path)),
		fx.Decorate(func(*slog.Logger) *slog.Logger { return slog.New(slog.NewTextHandler(&logged, nil)) }))
	give := limitFiles(t, 400)
	turn := k.Run("first")
	assert.Equal(t, kernel.Completed, turn.Result.Stop)
	require.NoError(t, k.Stop(t.Context()))
	give()

	lines := read(t, path)
	assert.Less(t, len(lines), len(turn.Events))
	assert.NotEmpty(t, lines)
	assert.Equal(t, 1, strings.Count(logged.String(), "trace.sink"), logged.String())
	assert.Contains(t, logged.String(), "file too large", "the log says why")
	var notes int
	for _, d := range k.Registry().Diagnostics() {
		if d.Point == trace.Sinks.Name() {
			notes++
		}
	}
	assert.Equal(t, 1, notes)
}

func TestASinkGoesOnWhenThereIsRoomAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	s := openSink(t, path)
	give := limitFiles(t, 300)
	require.NoError(t, s.Record(t.Context(), event("first")))
	long := event(strings.Repeat("x", 300))
	assert.ErrorIs(t, s.Record(t.Context(), long), unix.EFBIG)
	assert.NoError(t, s.Record(t.Context(), long), "it says so once")
	give()
	require.NoError(t, s.Record(t.Context(), event("second")))
	lines := read(t, path)
	require.Len(t, lines, 2, "nothing is left of lines that did not fit")
	assert.Contains(t, string(lines[1].Data), "second")

	give = limitFiles(t, 500)
	assert.ErrorIs(t, s.Record(t.Context(), long), unix.EFBIG, "it says so again")
	give()
}

// What another process has appended is not taken back with a line that did not fit.
func TestLinesOfAnotherProcessAreKeptWhenTheDiskIsFull(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	s, other := openSink(t, path), openSink(t, path)
	require.NoError(t, s.Record(t.Context(), event("mine")))
	require.NoError(t, other.Record(t.Context(), event("theirs")))
	give := limitFiles(t, 400)
	assert.ErrorIs(t, s.Record(t.Context(), event(strings.Repeat("x", 300))), unix.EFBIG)
	give()
	require.NoError(t, s.Record(t.Context(), event("on")))
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	lines := strings.Split(string(data), "\n")
	require.Len(t, lines, 5)
	assert.Contains(t, lines[0], "mine")
	assert.Contains(t, lines[1], "theirs")
	assert.Contains(t, lines[3], "on")
}
