//go:build unix

package childproc_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/internal/childproc"
)

// buffer is a bytes.Buffer that a test can read while it is written.
type buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

func sh(text string, out *buffer) childproc.Command {
	return childproc.Command{Path: "/bin/sh", Args: []string{"sh", "-c", text}, Stdout: out, Stderr: out}
}

// numbers waits for a program to print n process numbers.
func numbers(t *testing.T, out *buffer, n int) []int {
	t.Helper()
	var pids []int
	require.Eventually(t, func() bool {
		pids = nil
		for _, field := range strings.Fields(out.String()) {
			if pid, err := strconv.Atoi(field); err == nil {
				pids = append(pids, pid)
			}
		}
		return len(pids) == n && strings.HasSuffix(out.String(), "\n")
	}, 10*time.Second, 2*time.Millisecond)
	return pids
}

// running reports whether a process is there and no zombie.
func running(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err != nil || !strings.Contains(string(data), ") Z ")
}

func gone(t *testing.T, pids ...int) {
	t.Helper()
	for _, pid := range pids {
		assert.Eventually(t, func() bool { return !running(pid) }, 5*time.Second, 2*time.Millisecond)
	}
}

func TestRunReportsHowAProgramEnded(t *testing.T) {
	for _, tt := range []struct {
		text string
		want childproc.Exit
		out  string
	}{
		{"echo a; echo b >&2; echo c", childproc.Exit{}, "a\nb\nc\n"},
		{"exit 7", childproc.Exit{Code: 7}, ""},
		{"kill -TERM $$", childproc.Exit{Code: -1, Signal: "SIGTERM"}, ""},
		{"cat", childproc.Exit{}, ""},
	} {
		var out buffer
		exit, err := childproc.Run(context.Background(), sh(tt.text, &out))
		require.NoError(t, err)
		assert.Equal(t, tt.want, exit)
		assert.Equal(t, tt.out, out.String())
	}
}

func TestStreamsCanBeKeptApart(t *testing.T) {
	var out, errs buffer
	c := sh("cat; echo no >&2", &out)
	c.Stderr, c.Stdin = &errs, strings.NewReader("yes")
	_, err := childproc.Run(context.Background(), c)
	require.NoError(t, err)
	assert.Equal(t, "yes", out.String())
	assert.Equal(t, "no\n", errs.String())
}

// FIELD-B14 (the process side)
func TestAProgramThatDoesNotReadItsInput(t *testing.T) {
	var out buffer
	c := sh("echo ok; exit 0", &out)
	c.Stdin = bytes.NewReader(make([]byte, 1<<20))
	exit, err := childproc.Run(context.Background(), c)
	require.NoError(t, err)
	assert.Zero(t, exit.Code)
	assert.Equal(t, "ok\n", out.String())
}

func TestAProgramThatCanNotStart(t *testing.T) {
	_, err := childproc.Run(context.Background(), childproc.Command{Path: filepath.Join(t.TempDir(), "missing")})
	assert.ErrorIs(t, err, fs.ErrNotExist)
	ctx, cancel := context.WithCancelCause(context.Background())
	why := errors.New("too late")
	cancel(why)
	exit, err := childproc.Run(ctx, sh("exit 0", &buffer{}))
	require.NoError(t, err)
	assert.ErrorIs(t, exit.Cause, why)
}

func TestCancellingEndsTheGroup(t *testing.T) {
	var out buffer
	ctx, cancel := context.WithCancelCause(context.Background())
	why := errors.New("enough")
	var pids []int
	var group sync.WaitGroup
	group.Go(func() {
		pids = numbers(t, &out, 3)
		cancel(why)
	})
	start := time.Now()
	exit, err := childproc.Run(ctx, sh("sleep 300 & echo $!; sleep 300 & echo $!; echo $$; wait", &out))
	group.Wait()
	require.NoError(t, err)
	assert.ErrorIs(t, exit.Cause, why)
	assert.Equal(t, "SIGTERM", exit.Signal)
	assert.Less(t, time.Since(start), childproc.Grace, "TERM is enough for those who listen")
	gone(t, pids...)
}

func TestKillFollowsTerm(t *testing.T) {
	var out buffer
	ctx, cancel := context.WithCancel(context.Background())
	var asked time.Time
	var group sync.WaitGroup
	group.Go(func() {
		numbers(t, &out, 1)
		asked = time.Now()
		cancel()
	})
	exit, err := childproc.Run(ctx, sh("trap '' TERM; echo $$; while :; do sleep 0.05; done", &out))
	group.Wait()
	require.NoError(t, err)
	assert.Equal(t, "SIGKILL", exit.Signal)
	assert.GreaterOrEqual(t, time.Since(asked), childproc.Grace)
	gone(t, numbers(t, &out, 1)...)
}

// A leader that ends at TERM must not leave behind what does not.
func TestKillReachesWhatOutlivesItsLeader(t *testing.T) {
	var out buffer
	ctx, cancel := context.WithCancel(context.Background())
	var group sync.WaitGroup
	group.Go(func() {
		numbers(t, &out, 2)
		cancel()
	})
	_, err := childproc.Run(ctx, sh("(trap '' TERM; while :; do sleep 0.05; done) & echo $!; echo $$; wait", &out))
	group.Wait()
	require.NoError(t, err)
	gone(t, numbers(t, &out, 2)...)
}

// FIELD-B13
func TestWhatStaysInTheBackgroundIsStopped(t *testing.T) {
	for name, text := range map[string]string{
		"holds the pipes":        "sleep 300 & echo $!",
		"does not hold them":     "sleep 300 >/dev/null 2>&1 & echo $!",
		"a stopped process":      "sleep 300 & echo $!; kill -STOP $!",
		"started by another one": "sh -c 'sleep 300 & echo $!'",
	} {
		t.Run(name, func(t *testing.T) {
			var out buffer
			start := time.Now()
			exit, err := childproc.Run(context.Background(), sh(text, &out))
			require.NoError(t, err)
			assert.True(t, exit.Background)
			assert.NoError(t, exit.Cause)
			assert.Less(t, time.Since(start), 2*time.Second)
			gone(t, numbers(t, &out, 1)...)
		})
	}
}

func TestKillAllEndsEveryGroup(t *testing.T) {
	var group sync.WaitGroup
	outs := make([]buffer, 3)
	for i := range outs {
		group.Go(func() {
			exit, err := childproc.Run(context.Background(), sh("trap '' TERM; sleep 300 & echo $!; wait", &outs[i]))
			assert.NoError(t, err)
			assert.Equal(t, "SIGKILL", exit.Signal)
		})
	}
	for i := range outs {
		numbers(t, &outs[i], 1)
	}
	childproc.KillAll()
	group.Wait()
	for i := range outs {
		gone(t, numbers(t, &outs[i], 1)...)
	}
}

func TestTheChildHasNoTerminal(t *testing.T) {
	var out buffer
	_, err := childproc.Run(context.Background(), sh(`test "$(ps -o sid= -p $$ | tr -d ' ')" = $$ && echo leads; (: < /dev/tty) || echo none`, &out))
	require.NoError(t, err)
	assert.Contains(t, out.String(), "leads")
	assert.Contains(t, out.String(), "none")
}

// The time of a call covers what is read after its program has ended.
func TestWhatHoldsThePipesDoesNotOutlastTheTimeOfTheCall(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), childproc.Drain/3)
	defer cancel()
	var out buffer
	exit, err := childproc.Run(ctx, sh("sleep 60 & echo said", &out))
	require.NoError(t, err)
	assert.ErrorIs(t, exit.Cause, context.DeadlineExceeded)
	assert.Equal(t, "said\n", out.String())
}
