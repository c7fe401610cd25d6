//go:build linux

package crystalcmd_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/internal/home/jsonc"
)

// sandbox is a home directory and a workspace for real processes.
type sandbox struct{ home, ws string }

func newSandbox(t *testing.T) sandbox {
	t.Helper()
	dir := t.TempDir()
	s := sandbox{filepath.Join(dir, "home"), filepath.Join(dir, "ws")}
	require.NoError(t, os.MkdirAll(s.home, 0o700))
	require.NoError(t, os.MkdirAll(s.ws, 0o755))
	return s
}

// command is a real process of a host; testscript puts the hosts on the path.
func (s sandbox) command(host, scenario string, args ...string) *exec.Cmd {
	c := exec.Command(host, args...)
	c.Dir = s.ws
	c.Env = append(os.Environ(), "CRYSTAL_HOME="+s.home, "CRYSTAL_OFFLINE_SCENARIO="+scenario)
	return c
}

// scenario writes a scenario file of one step after another.
func (s sandbox) scenario(t *testing.T, steps ...map[string]any) string {
	t.Helper()
	text, err := json.Marshal(map[string]any{"steps": steps})
	require.NoError(t, err)
	path := filepath.Join(s.home, "scenario.json")
	require.NoError(t, os.WriteFile(path, text, 0o600))
	return path
}

func bashStep(command string) map[string]any {
	return map[string]any{"calls": []any{map[string]any{"id": "c1", "name": "bash", "arguments": map[string]any{"command": command}}}}
}

// exitCode returns the exit code of a process that has ended.
func exitCode(t *testing.T, err error) int {
	t.Helper()
	if err == nil {
		return 0
	}
	var e *exec.ExitError
	require.ErrorAs(t, err, &e)
	return e.ExitCode()
}

// alive reports whether a process runs.
func alive(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

// FIELD-I2 and RUN-20: the first signal ends the turn with its report; nothing of the tree is left; the thread goes on.
func TestSignalTakesTheTreeAlong(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		t.Run(sig.String(), func(t *testing.T) {
			s := newSandbox(t)
			path := s.scenario(t, bashStep("sleep 300 & echo $! > child; mv child started; wait"), map[string]any{"text": "ok"})
			c := s.command("crystal", path, "run", "-m", "offline/rules", "-y", "--json", "x")
			var out bytes.Buffer
			c.Stdout = &out
			require.NoError(t, c.Start())
			pid := waitForFile(t, filepath.Join(s.ws, "started"))
			require.NoError(t, c.Process.Signal(sig))
			assert.Equal(t, 5, exitCode(t, c.Wait()))
			child, err := strconv.Atoi(strings.TrimSpace(pid))
			require.NoError(t, err)
			assert.Eventually(t, func() bool { return !alive(child) }, 3*time.Second, 10*time.Millisecond, "the child is gone")
			assert.Contains(t, out.String(), `"code":"tool_cancelled"`)
			assert.Contains(t, out.String(), `"status":"interrupted","exitCode":5`)

			again := s.command("crystal", "", "run", "-c", "-m", "offline/rules", "hi")
			require.NoError(t, again.Run(), "the thread can be resumed")
		})
	}
}

// waitForFile waits until a file is there and returns its content.
func waitForFile(t *testing.T, path string) string {
	t.Helper()
	var text []byte
	require.Eventually(t, func() bool {
		var err error
		text, err = os.ReadFile(path)
		return err == nil
	}, 10*time.Second, 5*time.Millisecond, "waiting for %s", path)
	return string(text)
}

// FIELD-I2, second half: before the turn a signal ends the process at once.
func TestSignalBeforeTheTurn(t *testing.T) {
	for sig, want := range map[syscall.Signal]int{syscall.SIGTERM: 143, syscall.SIGINT: 130, syscall.SIGHUP: 143} {
		s := newSandbox(t)
		c := s.command("crystal", "", "run", "-m", "offline/rules")
		in, err := c.StdinPipe() // the task never comes
		require.NoError(t, err)
		stderr, err := c.StderrPipe()
		require.NoError(t, err)
		require.NoError(t, c.Start())
		// More than a pipe holds: when the write returns the process reads its task, and has caught signals before.
		_, err = io.WriteString(in, strings.Repeat("part of a task ", 20_000))
		require.NoError(t, err)
		require.NoError(t, c.Process.Signal(sig))
		_, err = io.Copy(io.Discard, stderr)
		require.NoError(t, err)
		assert.Equal(t, want, exitCode(t, c.Wait()), sig)
		assert.NoDirExists(t, filepath.Join(s.home, "threads"))
	}
}

// FIELD-J8: a slow reader gets everything.
func TestSlowReaderGetsEverything(t *testing.T) {
	const size = 5 << 20
	s := newSandbox(t)
	path := s.scenario(t, map[string]any{"text": strings.Repeat("a", size)})
	c := s.command("crystal", path, "run", "-m", "offline/rules", "--format", "json", "x")
	out, err := c.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	// The reply fills the pipe while nobody reads: the log says that the round is stored.
	require.Eventually(t, func() bool {
		logs, _ := filepath.Glob(filepath.Join(s.home, "threads", "*.jsonl"))
		if len(logs) == 0 {
			return false
		}
		info, err := os.Stat(logs[0])
		return err == nil && info.Size() > size
	}, 20*time.Second, 10*time.Millisecond)
	reader := bufio.NewReaderSize(out, 1<<16)
	text, last := 0, ""
	for {
		line, err := reader.ReadString('\n')
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		var o struct{ Type, Text string }
		require.NoError(t, json.Unmarshal([]byte(line), &o))
		if last = o.Type; last == "text" {
			text += len(o.Text)
		}
	}
	assert.Equal(t, size, text)
	assert.Equal(t, "session", last)
	assert.Equal(t, 0, exitCode(t, c.Wait()))
}

// A reader that goes away interrupts the turn; what ran is stored.
func TestReaderThatGoesAwayInterruptsTheTurn(t *testing.T) {
	s := newSandbox(t)
	path := s.scenario(t, bashStep("echo one"), bashStep("sleep 300"), map[string]any{"text": "ok"})
	c := s.command("crystal", path, "run", "-m", "offline/rules", "-y", "x")
	out, err := c.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, out.Close())
	require.NoError(t, c.Start())
	assert.Equal(t, 5, exitCode(t, c.Wait()))
	logs, err := filepath.Glob(filepath.Join(s.home, "threads", "*.jsonl"))
	require.NoError(t, err)
	require.Len(t, logs, 1)
	text, err := os.ReadFile(logs[0])
	require.NoError(t, err)
	assert.Contains(t, string(text), `"stop":"interrupted"`)
}

// FIELD-T2: many processes change one file; no reader sees half of it and no change is lost.
func TestManyProcessesChangeOneFile(t *testing.T) {
	s := newSandbox(t)
	config := filepath.Join(s.home, "config.json")
	require.NoError(t, os.WriteFile(config, []byte("{ // mine\n}\n"), 0o600))
	stop := make(chan struct{})
	var reader, writers sync.WaitGroup
	reader.Go(func() {
		for {
			_, err := jsonc.Read(config)
			if !assert.NoError(t, err) {
				return
			}
			select {
			case <-stop:
				return
			default:
			}
		}
	})
	ids := manyIDs()
	for _, id := range ids {
		writers.Go(func() {
			for _, verb := range []string{"disable", "enable", "disable"} {
				out, err := s.command("manyhost", "", "plugins", verb, id).CombinedOutput()
				assert.NoError(t, err, string(out))
			}
		})
	}
	writers.Wait()
	close(stop)
	reader.Wait()
	o, err := jsonc.Read(config)
	require.NoError(t, err)
	got, _ := o.Fields(func(p jsonc.Problem) { t.Error(p) }).Texts("disabledPlugins")
	assert.ElementsMatch(t, ids, got)
	entries, err := os.ReadDir(s.home)
	require.NoError(t, err)
	assert.Len(t, entries, 2, "the file and its lock")
}

// FIELD-T6: two runs at once leave each other alone.
func TestTwoRunsAtOnce(t *testing.T) {
	s := newSandbox(t)
	slow := s.scenario(t, bashStep("until test -e go; do sleep 0.02; done; echo one"), map[string]any{"text": "first"})
	first := s.command("crystal", slow, "run", "-m", "offline/rules", "-y", "one")
	require.NoError(t, first.Start())
	out, err := s.command("crystal", "", "run", "-m", "offline/rules", "two").CombinedOutput()
	require.NoError(t, err, string(out))
	require.NoError(t, os.WriteFile(filepath.Join(s.ws, "go"), nil, 0o600))
	require.NoError(t, first.Wait())
	logs, err := filepath.Glob(filepath.Join(s.home, "threads", "*.jsonl"))
	require.NoError(t, err)
	require.Len(t, logs, 2)
	for _, log := range logs {
		text, err := os.ReadFile(log)
		require.NoError(t, err)
		id := strings.TrimSuffix(filepath.Base(log), ".jsonl")
		assert.Contains(t, string(text), id)
		assert.Equal(t, 1, strings.Count(string(text), `"type":"turn"`))
	}
}

// THREAD-5: a thread that another process has open can be read and not written.
func TestThreadInUse(t *testing.T) {
	s := newSandbox(t)
	slow := s.scenario(t, bashStep("touch started; until test -e go; do sleep 0.02; done"), map[string]any{"text": "first"})
	first := s.command("crystal", slow, "run", "-m", "offline/rules", "-y", "one")
	require.NoError(t, first.Start())
	waitForFile(t, filepath.Join(s.ws, "started"))
	out, err := s.command("crystal", "", "run", "-c", "-m", "offline/rules", "two").CombinedOutput()
	assert.Equal(t, 1, exitCode(t, err))
	assert.Contains(t, string(out), "ThreadInUse")
	assert.Contains(t, string(out), strconv.Itoa(first.Process.Pid))
	out, err = s.command("crystal", "", "threads", "list", "--json").Output()
	require.NoError(t, err)
	assert.Contains(t, string(out), `"state":"in use"`)
	require.NoError(t, os.WriteFile(filepath.Join(s.ws, "go"), nil, 0o600))
	require.NoError(t, first.Wait())
}
