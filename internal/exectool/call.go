package exectool

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/crystalkernel/crystal/internal/childproc"
	"github.com/crystalkernel/crystal/internal/home"
	"github.com/crystalkernel/crystal/internal/plaintext"
	"github.com/crystalkernel/crystal/points/tool"
)

// marker is the variable by which processes of a call are found again.
const marker = "CRYSTAL_CALL"

// errTimedOut is why a call was ended.
var errTimedOut = errors.New("timed out")

// invoke runs one call.
func (p *program) invoke(ctx context.Context, i tool.Invocation) (tool.Result, error) {
	if ctx.Err() != nil {
		return cancelled(), nil
	}
	options, err := p.options(i.Arguments)
	if err != nil {
		return tool.Failed(tool.CodeInputInvalid, "The program was not started: "+err.Error()+"."), nil
	}
	path, err := p.find()
	if err != nil {
		return notStarted(err), nil
	}
	env, err := p.environment(&i)
	if err != nil {
		return notStarted(err), nil
	}
	bounded := ctx
	if p.tool.Timeout != home.Unlimited {
		var cancel context.CancelFunc
		bounded, cancel = context.WithTimeoutCause(ctx, p.tool.Timeout, errTimedOut)
		defer cancel()
	}
	var o output
	defer o.close()
	c := childproc.Command{
		Path: path, Args: slices.Concat(p.tool.Command, options), Dir: i.Workspace, Env: env,
		Stdout: &o.stdout, Stderr: &o.stderr, Marker: marker + "=" + rand.Text(),
	}
	if p.tool.Stdin {
		c.Stdin = bytes.NewReader(input(i.Arguments))
	}
	if o.exit, err = childproc.Run(bounded, c); err != nil {
		return notStarted(startFault(path, err)), nil
	}
	switch {
	case errors.Is(o.exit.Cause, errTimedOut):
		return o.cut("timed out after "+p.tool.Timeout.String(), &tool.Error{
			Code: tool.CodeTimeout, Message: "The program timed out.", Params: map[string]any{"timeout": p.tool.Timeout.String()},
		}), nil
	case o.exit.Cause != nil:
		return o.cut("", &tool.Error{Code: tool.CodeCancelled, Message: "The call was cancelled."}), nil
	case p.tool.Content:
		return p.content(&o, &i), nil
	}
	return o.text(), nil
}

func notStarted(err error) tool.Result {
	return tool.Failed(tool.CodeExecutionFailed, "The program could not be started: "+plaintext.Clean(err.Error())+".")
}

func cancelled() tool.Result { return tool.Failed(tool.CodeCancelled, "The call was cancelled.") }

// input is what the program reads: the arguments as one object.
func input(arguments []byte) []byte {
	if len(arguments) == 0 {
		return []byte("{}")
	}
	return arguments
}

// environment is the host's without its key, with what the program should know. The data directories are made.
func (p *program) environment(i *tool.Invocation) ([]string, error) {
	project := i.Data.Project
	if project == "" {
		// It is named, and not made: the workspace is not trusted.
		project = filepath.Join(i.Workspace, home.TreeName, "data", "tools", p.set.Directory)
	}
	for _, dir := range []string{i.Data.Global, i.Data.Project} {
		if dir == "" {
			continue
		}
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, fmt.Errorf("its data directory can't be made: %w", err)
		}
	}
	env := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "CRYSTAL_API_KEY=") })
	return append(env,
		"CRYSTAL_WORKSPACE="+i.Workspace, "CRYSTAL_THREAD="+i.Thread, "CRYSTAL_SESSION="+i.Thread,
		"CRYSTAL_APPROVAL="+i.Approval, "CRYSTAL_TOOL_DATA="+i.Data.Global, "CRYSTAL_PROJECT_DATA="+project), nil
}

// output is what a program printed, and how it ended.
type output struct {
	stdout, stderr childproc.Capture
	exit           childproc.Exit
}

func (o *output) close() {
	_ = o.stdout.Close()
	_ = o.stderr.Close()
}

// text is the result of a program that prints text: how it ended, then both streams.
func (o *output) text() tool.Result {
	r := tool.Text(o.lines(o.exit.String(), printed(&o.stdout)))
	o.judge(&r)
	return r
}

// cut is the result of a program that was ended, with what it had printed.
func (o *output) cut(first string, e *tool.Error) tool.Result {
	r := tool.Text(o.lines(first, printed(&o.stdout)))
	r.Failed, r.Error = true, e
	return r
}

// lines joins what a result is made of; what is blank is left out.
func (o *output) lines(parts ...string) string {
	parts = append(append(parts, printed(&o.stderr)), o.exit.Remarks()...)
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "\n")
}

// judge makes the result a failure unless the program ended well.
func (o *output) judge(r *tool.Result) {
	e := tool.Error{Code: tool.CodeCommandFailed}
	switch {
	case o.exit.Signal != "":
		e.Message, e.Params = "The program was ended by a signal.", map[string]any{"signal": o.exit.Signal}
	case o.exit.Code != 0:
		e.Message, e.Params = "The program failed.", map[string]any{"exitCode": o.exit.Code}
	default:
		return
	}
	r.Failed, r.Error = true, &e
}

// printed is one stream as the model gets it.
func printed(c *childproc.Capture) string {
	text, err := c.Text()
	if err != nil {
		return fmt.Sprintf("[the output could not be read back: %v]", bare(err))
	}
	return strings.TrimRight(plaintext.Clean(text), "\n")
}
