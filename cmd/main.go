package crystalcmd

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/crystalkernel/crystal/plugins"
)

// Main runs the command line of a host that is built with the given plugins, and ends the process with its exit code.
func Main(list ...plugins.Plugin) {
	stop := newInterrupter(os.Exit)
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		for s := range signals {
			stop.signal(s)
		}
	}()
	p := program{
		list: list, stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, env: os.Getenv, now: time.Now, stop: stop,
		own: true,
	}
	os.Exit(p.run(context.Background(), os.Args[1:]))
}

// program is one run of the command line. Everything that it reads and writes is in here or in the directories that its
// options name.
type program struct {
	list           []plugins.Plugin // compiled in, in registration order
	stdin          io.Reader
	stdout, stderr io.Writer
	env            func(string) string
	now            func() time.Time
	stop           *interrupter
	own            bool // the process is this program's: os.Stdout may be taken from plugin code

	options globalOptions
}

// run runs one command line and returns the exit code.
func (p *program) run(ctx context.Context, args []string) int {
	root := p.root()
	root.SetArgs(args)
	root.SetIn(p.stdin)
	root.SetOut(p.stdout)
	root.SetErr(p.stderr)
	return p.exit(root.ExecuteContext(ctx))
}
