package builtin

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/crystalkernel/crystal/internal/childproc"
	"github.com/crystalkernel/crystal/internal/plaintext"
	"github.com/crystalkernel/crystal/internal/shellrisk"
	"github.com/crystalkernel/crystal/points/tool"
)

// script is what the shell is told to do. The command itself comes over its input, so that it is in no argument list: a
// pattern that the command looks for does not match the shell that runs it. The command's own input is empty.
const script = `eval "$(command cat)" </dev/null`

// marker is the variable by which processes of a call are found again.
const marker = "CRYSTAL_CALL"

var bashTool = kind{
	name: "bash",
	description: "Runs a command line with bash in the workspace and returns its exit code and its output, stdout and stderr together. " +
		"Each call starts anew in the workspace: a cd or a variable does not carry over. There is no input and no terminal. " +
		"Processes that are still running when the command ends are stopped. timeoutSeconds sets a shorter limit than the usual two minutes. " +
		"To read, find and change files use read, glob, grep, edit and write.",
	schema: `{"type":"object","properties":{"command":{"type":"string","minLength":1},"timeoutSeconds":{"type":"integer","minimum":1},` +
		`"description":{"type":"string"}},"required":["command"],"additionalProperties":false}`,
	hints: tool.Hints{Destructive: true, OpenWorld: true}, catalogs: tool.CatalogWork,
	timeout:  tool.Unlimited, // it has a limit of its own, with a result of its own
	classify: classifyCommand, run: (*Source).bash,
}

func classifyCommand(s *Source, c tool.Call, workspace string) tool.Classification {
	var args struct {
		Command string `json:"command"`
	}
	if arguments(c.Arguments, &args) != nil || args.Command == "" {
		return tool.Classification{Risk: tool.Write, Authority: tool.Workspace, Summary: "bash"}
	}
	k := shellrisk.Classify(args.Command, s.fence(workspace, c.Thread))
	k.Fingerprint = args.Command
	return k
}

type bashArguments struct {
	Command        string `json:"command"`
	TimeoutSeconds int64  `json:"timeoutSeconds"`
}

func (s *Source) bash(ctx context.Context, i *tool.Invocation) tool.Result {
	var args bashArguments
	if err := arguments(i.Arguments, &args); err != nil {
		return invalid("The arguments can't be read: %v.", err)
	}
	if strings.IndexByte(args.Command, 0) >= 0 {
		return invalid("The command holds a zero byte.")
	}
	limit, note := s.bashLimit(args.TimeoutSeconds)
	bounded, cancel := context.WithTimeoutCause(ctx, limit, errTimedOut)
	defer cancel()

	var output childproc.Capture
	defer func() { _ = output.Close() }()
	start := time.Now()
	exit, err := childproc.Run(bounded, childproc.Command{
		Path: s.config.Shell, Args: []string{filepath.Base(s.config.Shell), "-c", script}, Dir: i.Workspace, Env: environment(i),
		Stdin: strings.NewReader(args.Command), Stdout: &output, Stderr: &output,
		Marker: marker + "=" + rand.Text(),
	})
	if err != nil {
		return failed("The shell could not be started: %v.", bare(err))
	}
	r := report{exit: exit, limit: limit, took: time.Since(start), note: note}
	return r.result(&output)
}

var errTimedOut = errors.New("timed out")

// bashLimit is the time that a call has. One that asks for more gets the limit, and a note.
func (s *Source) bashLimit(seconds int64) (time.Duration, string) {
	limit := s.config.BashTimeout
	switch {
	case seconds <= 0:
		return limit, ""
	case seconds > int64(limit/time.Second) && time.Duration(min(seconds, 1<<32))*time.Second > limit:
		return limit, fmt.Sprintf("[timeoutSeconds was cut to the limit of %s]", limit)
	}
	return time.Duration(seconds) * time.Second, ""
}

// environment is the host's without its key, with what a command should know of where it runs.
func environment(i *tool.Invocation) []string {
	host := os.Environ()
	env := make([]string, 0, len(host)+8)
	for _, variable := range host {
		if name, _, _ := strings.Cut(variable, "="); name != "CRYSTAL_API_KEY" {
			env = append(env, variable)
		}
	}
	return append(env,
		"CRYSTAL=1", "CRYSTAL_WORKSPACE="+i.Workspace, "CRYSTAL_THREAD="+i.Thread,
		"TERM=dumb", "NO_COLOR=1", "PAGER=cat", "GIT_PAGER=cat", "GIT_TERMINAL_PROMPT=0")
}

// report is how a command ended.
type report struct {
	exit  childproc.Exit
	limit time.Duration
	took  time.Duration
	note  string
}

func (r report) result(output *childproc.Capture) tool.Result {
	var lines []string
	code := ""
	message := ""
	ms := r.took.Milliseconds()
	f := facts{DurationMS: &ms, Signal: r.exit.Signal}
	switch {
	case errors.Is(r.exit.Cause, errTimedOut):
		lines = append(lines, "timed out after "+r.limit.String())
		code, message, f.TimedOut = tool.CodeTimeout, "The command timed out.", true
	case r.exit.Cause != nil:
		code, message = tool.CodeCancelled, "The command was cancelled."
	case r.exit.Signal != "":
		lines = append(lines, r.exit.String())
		code, message = tool.CodeCommandFailed, "The command was ended by a signal."
	default:
		lines = append(lines, r.exit.String())
		f.ExitCode = &r.exit.Code
		if r.exit.Code != 0 {
			code, message = tool.CodeCommandFailed, "The command failed."
		}
	}
	lines = append(lines, captured(output))
	if r.note != "" {
		lines = append(lines, r.note)
	}
	lines = append(lines, r.exit.Remarks()...)
	result := succeeded(strings.Join(lines, "\n"), f)
	if code != "" {
		result.Failed = true
		result.Error = &tool.Error{Code: code, Message: message, Params: r.params(code)}
	}
	return result
}

func (r report) params(code string) map[string]any {
	switch {
	case code == tool.CodeTimeout:
		return map[string]any{"timeout": r.limit.String()}
	case code == tool.CodeCommandFailed && r.exit.Signal != "":
		return map[string]any{"signal": r.exit.Signal}
	case code == tool.CodeCommandFailed:
		return map[string]any{"exitCode": r.exit.Code}
	}
	return nil
}

// captured is the output as the model gets it.
func captured(output *childproc.Capture) string {
	text, err := output.Text()
	if err != nil {
		return fmt.Sprintf("[the output could not be read back: %v]", bare(err))
	}
	if text = strings.TrimRight(plaintext.Clean(text), "\n"); text == "" {
		return "(no output)"
	}
	return text
}
