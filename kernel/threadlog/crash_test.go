package threadlog_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/crystalkernel/crystal/kernel/threadlog"
	"github.com/crystalkernel/crystal/points/model"
)

// crashHome names the home of the process that is to be killed.
const crashHome = "CRYSTAL_TEST_CRASH_HOME"

func TestMain(m *testing.M) {
	if home := os.Getenv(crashHome); home != "" {
		writeUntilKilled(home, os.Getenv("CRYSTAL_TEST_CRASH_WRITERS") == "one")
		return
	}
	goleak.VerifyTestMain(m)
}

// writeUntilKilled appends records and prints the number of each when it is confirmed.
func writeUntilKilled(home string, one bool) {
	l, err := threadlog.Disk(home).Create(context.Background(), threadlog.Header{Workspace: "/w"})
	if err != nil {
		fmt.Println("failed", err)
		return
	}
	if err := l.Append(&threadlog.Turn{Turn: "t1", Item: user("go")}); err != nil {
		fmt.Println("failed", err)
		return
	}
	writers := 50
	if one {
		writers = 1
	}
	var printing sync.Mutex
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := 0; ; i++ {
				text := fmt.Sprintf("<%d.%d>%s", w, i, strings.Repeat("x", 500*(w%5)))
				if err := l.Append(&threadlog.Round{Turn: "t1", Items: []*model.Item{reply(text)}}); err != nil {
					return
				}
				printing.Lock()
				fmt.Printf("<%d.%d>\n", w, i)
				printing.Unlock()
			}
		})
	}
	wg.Wait()
}

func TestAProcessThatIsKilledLosesNothingConfirmed(t *testing.T) { // FIELD-T3
	for _, writers := range []string{"one", "many"} {
		for kill := range 4 {
			t.Run(fmt.Sprint(writers, kill), func(t *testing.T) {
				home := t.TempDir()
				confirmed := killed(t, home, writers, 1+40*kill)
				logs, err := filepath.Glob(filepath.Join(home, "threads", "*.jsonl"))
				require.NoError(t, err)
				require.Len(t, logs, 1)
				id := strings.TrimSuffix(filepath.Base(logs[0]), ".jsonl")
				s := threadlog.Disk(home)
				l, notes, err := s.Open(t.Context(), id)
				require.NoError(t, err, "the lock ended with its process")
				assert.Equal(t, []string{threadlog.ThreadRepaired}, codes(notes))
				found := make(map[string]bool)
				for _, it := range l.Items()[1:] {
					name, rest, ok := strings.Cut(it.Text, ">")
					require.True(t, ok)
					require.Empty(t, strings.Trim(rest, "x"), "no record is mixed with another")
					found[name+">"] = true
				}
				for _, name := range confirmed {
					require.True(t, found[name], "%s was confirmed", name)
				}
				add(t, l, turn("go on"))
				require.NoError(t, l.Close())
				_, notes, err = s.Read(t.Context(), id)
				require.NoError(t, err)
				assert.Empty(t, notes)
			})
		}
	}
}

// killed runs a writing process, kills it after so many confirmed records, and returns all that were confirmed.
func killed(t *testing.T, home, writers string, after int) []string {
	t.Helper()
	exe, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), exe)
	cmd.Env = append(os.Environ(), crashHome+"="+home, "CRYSTAL_TEST_CRASH_WRITERS="+writers)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	var confirmed []string
	in := bufio.NewScanner(out)
	for in.Scan() {
		require.NotContains(t, in.Text(), "failed")
		if !strings.HasSuffix(in.Text(), ">") {
			break // cut off by the end of the process
		}
		confirmed = append(confirmed, in.Text())
		if len(confirmed) == after {
			require.NoError(t, cmd.Process.Kill())
		}
	}
	require.Error(t, cmd.Wait())
	require.GreaterOrEqual(t, len(confirmed), after)
	return confirmed
}
