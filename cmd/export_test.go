package crystalcmd

import (
	"bytes"
	"context"
	"io"
	"time"

	"github.com/crystalkernel/crystal/plugins"
)

// Outcome is what one command line came to.
type Outcome struct {
	Stdout, Stderr string
	Exit           int
}

// Run runs one command line as Main does, in this process and with an environment of its own.
func Run(ctx context.Context, list []plugins.Plugin, stdin io.Reader, env map[string]string, args ...string) Outcome {
	var out, err bytes.Buffer
	p := program{
		list: list, stdin: stdin, stdout: &out, stderr: &err, env: func(name string) string { return env[name] }, now: time.Now,
		stop: newInterrupter(func(int) {}),
	}
	code := p.run(ctx, args)
	return Outcome{out.String(), err.String(), code}
}
