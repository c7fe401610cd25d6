//go:build unix

package builtin_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/internal/builtin"
	"github.com/crystalkernel/crystal/points/tool"
)

// ended waits until a process is gone, or is a zombie that only its parent can remove.
func ended(t *testing.T, pid int) {
	t.Helper()
	require.Eventually(t, func() bool {
		if syscall.Kill(pid, 0) != nil {
			return true
		}
		data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		return err != nil || strings.Contains(string(data), ") Z ")
	}, 5*time.Second, 5*time.Millisecond)
}

// pid reads a process number that a command has written into a file of the workspace.
func (d *desk) pid(name string) int {
	d.t.Helper()
	var pid int
	require.Eventually(d.t, func() bool {
		data, err := os.ReadFile(filepath.Join(d.ws, name))
		if err != nil || !strings.HasSuffix(string(data), "\n") {
			return false
		}
		pid, err = strconv.Atoi(strings.TrimSpace(string(data)))
		return err == nil
	}, 10*time.Second, 2*time.Millisecond)
	return pid
}

func TestBashResults(t *testing.T) {
	d := newDesk(t)
	assert.Equal(t, "exit 0\nhi", d.ok("bash", args{"command": "echo hi"}))
	assert.Equal(t, "exit 0\n(no output)", d.ok("bash", args{"command": "true"}))
	assert.Equal(t, "exit 0\n"+d.ws, d.ok("bash", args{"command": "pwd"}))
	assert.Equal(t, "exit 0\none\ntwo\nthree", d.ok("bash", args{"command": "echo one; echo two >&2; echo three"}))
	assert.Equal(t, "exit 0\nempty", d.ok("bash", args{"command": "cat; echo empty"}), "the input is empty")

	r := d.run("bash", args{"command": "echo out; exit 3"})
	assert.Equal(t, tool.CodeCommandFailed, r.Error.Code)
	assert.Equal(t, map[string]any{"exitCode": 3}, r.Error.Params)
	assert.Equal(t, "exit 3\nout", text(r))
	assert.JSONEq(t, `3`, string(field(t, r, "exitCode")))

	r = d.run("bash", args{"command": "kill -9 $$"})
	assert.Equal(t, tool.CodeCommandFailed, r.Error.Code)
	assert.Equal(t, "exit signal SIGKILL\n(no output)", text(r))
}

// FIELD-M2 (the bash part)
func TestBashWorksInADirectoryWithBlanks(t *testing.T) {
	d := newDesk(t)
	d.ws = filepath.Join(d.ws, "it's a dir")
	require.NoError(t, os.Mkdir(d.ws, 0o755))
	assert.Equal(t, "exit 0\n"+d.ws, d.ok("bash", args{"command": "pwd"}))
}

func TestBashEnvironment(t *testing.T) {
	t.Setenv("CRYSTAL_API_KEY", "secret")
	d := newDesk(t)
	got := d.ok("bash", args{"command": `echo "$CRYSTAL $CRYSTAL_WORKSPACE $CRYSTAL_THREAD $TERM $NO_COLOR $PAGER $GIT_PAGER $GIT_TERMINAL_PROMPT [$CRYSTAL_API_KEY]"`})
	assert.Equal(t, "exit 0\n1 "+d.ws+" t1 dumb 1 cat cat 0 []", got)
}

func TestNothingCarriesOver(t *testing.T) {
	d := newDesk(t)
	require.NoError(t, os.Mkdir(filepath.Join(d.ws, "sub"), 0o755))
	d.ok("bash", args{"command": "cd sub; export X=1"})
	assert.Equal(t, "exit 0\n"+d.ws+" ", strings.TrimSuffix(d.ok("bash", args{"command": `echo "$PWD $X"`}), "\n"))
}

// FIELD-K3 (what the model gets)
func TestBashCleansItsOutput(t *testing.T) {
	d := newDesk(t)
	got := d.ok("bash", args{"command": `printf '50%%\r100%%\n\033[2J\033[1;1Hpwn\033[31mred\033[0m'`})
	assert.Equal(t, "exit 0\n100%\npwnred", got)
}

// FIELD-J1 (the tool's side: the result holds all of it)
func TestOneVeryLongLine(t *testing.T) {
	d := newDesk(t)
	got := d.ok("bash", args{"command": `head -c 25165824 /dev/zero | tr '\0' a`})
	assert.Equal(t, len("exit 0\n")+25165824, len(got))
	assert.Equal(t, strings.Repeat("a", 100), got[len(got)-100:])
}

func TestOutputBeyondTheBoundKeepsItsEnds(t *testing.T) {
	d := newDesk(t)
	got := d.ok("bash", args{"command": `echo start; head -c 73400320 /dev/zero | tr '\0' a; echo end`})
	assert.Equal(t, "exit 0\nstart\naaa", got[:len("exit 0\nstart\naaa")])
	assert.True(t, strings.HasSuffix(got, "aaaend"))
	assert.Contains(t, got, "bytes were dropped]")
	assert.Less(t, len(got), 65<<20)
}

// FIELD-I6
func TestAPatternDoesNotMatchTheCommandsOwnHost(t *testing.T) {
	d := newDesk(t)
	got := d.ok("bash", args{"command": "sleep 86461 & sleep 0.2; pkill -f 'sleep 86461'; echo alive"})
	assert.True(t, strings.HasPrefix(got, "exit 0\n"), got)
	assert.Contains(t, got, "alive")
}

// FIELD-B13
func TestAChildInTheBackgroundDoesNotHoldTheCall(t *testing.T) {
	d := newDesk(t)
	start := time.Now()
	assert.Equal(t, "exit 0\ndone\n[background processes were stopped]",
		d.ok("bash", args{"command": "sleep 60 & echo $! > pid; echo done"}))
	assert.Less(t, time.Since(start), 2*time.Second)
	ended(t, d.pid("pid"))
}

// FIELD-B15
func TestChildrenHaveNoTerminal(t *testing.T) {
	d := newDesk(t)
	got := d.ok("bash", args{"command": `printf '\033[2J' > /dev/tty; cat; echo end`})
	assert.Contains(t, got, "/dev/tty")
	assert.True(t, strings.HasSuffix(got, "\nend"))
}

// FIELD-I7
func TestAChildThatLeavesTheGroupIsNamed(t *testing.T) {
	d := newDesk(t)
	start := time.Now()
	got := d.ok("bash", args{"command": `setsid sh -c 'echo $$ > pid; exec sleep 300' >/dev/null 2>&1 </dev/null & ` +
		`until test -s pid; do sleep 0.01; done; echo started`})
	pid := d.pid("pid")
	t.Cleanup(func() {
		_ = syscall.Kill(pid, syscall.SIGKILL)
		ended(t, pid)
	})
	assert.Less(t, time.Since(start), 2*time.Second)
	assert.Contains(t, got, "started")
	assert.Contains(t, got, "[still running: "+strconv.Itoa(pid)+"]")
}

// FIELD-I1, FIELD-I8
func TestTheLadderTakesGrandchildrenAlong(t *testing.T) {
	const command = "sleep 300 & echo $! > one; sleep 300 & echo $! > two; wait"
	t.Run("cancel", func(t *testing.T) {
		d := newDesk(t)
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan tool.Result)
		go func() {
			done <- d.runIn(ctx, "t1", "bash", args{"command": "echo partial; " + command}, tool.Classification{})
		}()
		one, two := d.pid("one"), d.pid("two")
		cancel()
		r := <-done
		require.True(t, r.Failed)
		assert.Equal(t, tool.CodeCancelled, r.Error.Code)
		assert.Equal(t, "partial", text(r))
		ended(t, one)
		ended(t, two)
	})
	t.Run("time limit", func(t *testing.T) {
		d := newDesk(t)
		r := d.run("bash", args{"command": command, "timeoutSeconds": 3})
		require.True(t, r.Failed)
		assert.Equal(t, tool.CodeTimeout, r.Error.Code)
		assert.Equal(t, "timed out after 3s\n(no output)", text(r))
		ended(t, d.pid("one"))
		ended(t, d.pid("two"))
	})
	t.Run("a process that does not listen", func(t *testing.T) {
		d := newDesk(t)
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan tool.Result)
		go func() {
			done <- d.runIn(ctx, "t1", "bash", args{"command": "trap '' TERM; echo $$ > one; while :; do sleep 0.05; done"}, tool.Classification{})
		}()
		d.pid("one")
		start := time.Now()
		cancel()
		r := <-done
		assert.Equal(t, tool.CodeCancelled, r.Error.Code)
		assert.GreaterOrEqual(t, time.Since(start), 2*time.Second, "KILL comes after the grace")
		ended(t, d.pid("one"))
	})
}

func TestBashTimeoutIsCutToTheLimit(t *testing.T) {
	d := newDesk(t, func(c *builtin.Config) { c.BashTimeout = 3 * time.Second })
	assert.Equal(t, "exit 0\nhi\n[timeoutSeconds was cut to the limit of 3s]",
		d.ok("bash", args{"command": "echo hi", "timeoutSeconds": 1000000000000}))
	assert.Equal(t, "exit 0\nhi", d.ok("bash", args{"command": "echo hi", "timeoutSeconds": 3}))
}

func TestAShellThatCanNotStart(t *testing.T) {
	d := newDesk(t, func(c *builtin.Config) { c.Shell = "/no/such/shell" })
	assert.Contains(t, d.fails(tool.CodeExecutionFailed, "bash", args{"command": "x"}), "no such file")
}

func TestAnyTextReachesTheShell(t *testing.T) {
	d := newDesk(t)
	long := "x='" + strings.Repeat("y", 300_000) + "'; echo ${#x}"
	assert.Equal(t, "exit 0\n300000", d.ok("bash", args{"command": long}))
	assert.Equal(t, "exit 0\na b\n$HOME", d.ok("bash", args{"command": "cat <<'E'\na b\n$HOME\nE\n"}))
	d.fails(tool.CodeInputInvalid, "bash", args{"command": "a\x00b"})
}
