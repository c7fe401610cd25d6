package childproc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// Times of the ladder that ends a group.
const (
	Grace     = 2 * time.Second        // between TERM and KILL
	Drain     = 500 * time.Millisecond // for reading pipes that outlive the child
	settle    = 50 * time.Millisecond  // for processes that are about to end with the child
	firstPoll = 2 * time.Millisecond   // between two looks at a group, at first
	lastPoll  = 100 * time.Millisecond
)

// Command says what to run. Path is required.
type Command struct {
	Path string   // of the program; it is not looked up
	Args []string // the argument list, the program's own name first
	Dir  string   // blank: that of this process
	Env  []string // nil: that of this process

	Stdin io.Reader // nil: empty. Its Read must not block for ever
	// Stdout and Stderr take the output while the program runs. The same writer for both keeps the order of arrival and
	// sees one Write at a time. Nil drops the output. A writer that fails ends the reading, and the program gets a broken
	// pipe.
	Stdout, Stderr io.Writer

	// Marker is a variable, as NAME=value, that is added to the environment. Processes that left the group and still have
	// it are named in Exit. Blank: nobody looks.
	Marker string
}

// Exit says how a program ended.
type Exit struct {
	Code       int    // the exit code; -1 when a signal ended it
	Signal     string // name of the signal that ended it, as in SIGKILL; blank for none
	Cause      error  // why it was ended from outside: that of the context; nil when it ended by itself
	Background bool   // processes that it left in its group were stopped
	Escaped    []int  // processes that left the group and still run, as far as they can be seen
}

// String is the line that results begin with: "exit 3", or "exit signal SIGKILL".
func (e Exit) String() string {
	if e.Signal != "" {
		return "exit signal " + e.Signal
	}
	return "exit " + strconv.Itoa(e.Code)
}

// Remarks are the lines that results end with: what became of the processes that the program left behind.
func (e Exit) Remarks() []string {
	var lines []string
	if e.Background {
		lines = append(lines, "[background processes were stopped]")
	}
	if len(e.Escaped) > 0 {
		lines = append(lines, "[still running: "+strings.Trim(fmt.Sprint(e.Escaped), "[]")+"]")
	}
	return lines
}

// Run starts the program and waits for it and for its group. The error says why it could not be started, or waited for; how
// it ended is in Exit. Run returns when no process of the group is left, or at most a moment after KILL.
func Run(ctx context.Context, c Command) (Exit, error) {
	if err := ctx.Err(); err != nil {
		return Exit{Code: -1, Cause: context.Cause(ctx)}, nil
	}
	p, err := start(c)
	if err != nil {
		return Exit{}, err
	}
	defer p.close()

	exit := Exit{}
	select {
	case <-p.ended:
	case <-ctx.Done():
		exit.Cause = context.Cause(ctx)
		p.group.end(p.ended)
	}
	// The child is gone. Whoever still holds its pipes gets a moment to say what it has to say, within the time of the call.
	limit := ctx
	if exit.Cause != nil {
		limit = context.Background()
	}
	drained := p.drain(limit)
	switch {
	case exit.Cause != nil:
	case !drained && ctx.Err() != nil:
		exit.Cause = context.Cause(ctx)
		p.group.end(nil)
		p.drain(context.Background())
	default:
		wait := time.Duration(0)
		if drained {
			wait = settle
		}
		if !p.group.gone(wait) {
			exit.Background = true
			p.group.end(nil)
		}
	}
	p.closePipes()
	if c.Marker != "" {
		exit.Escaped = marked(c.Marker, p.group)
	}
	exit.Code, exit.Signal = status(p.cmd.ProcessState)
	var failed *exec.ExitError
	if p.waitErr != nil && !errors.As(p.waitErr, &failed) {
		return exit, p.waitErr
	}
	return exit, nil
}

// process is a program that has been started, with the goroutines that serve it.
type process struct {
	cmd     *exec.Cmd
	group   *group
	ended   chan struct{} // closed when the child has been waited for
	waitErr error         // of that wait; read after ended
	pipes   []*os.File    // our ends
	readers chan struct{} // closed when all output was read
	serving chan struct{} // closed when the goroutine that writes the input has ended
}

func start(c Command) (*process, error) {
	env := c.Env
	if env == nil {
		env = os.Environ()
	}
	if c.Marker != "" {
		env = append(env[:len(env):len(env)], c.Marker)
	}
	p := &process{
		cmd:   &exec.Cmd{Path: c.Path, Args: c.Args, Dir: c.Dir, Env: env, SysProcAttr: attributes()},
		ended: make(chan struct{}), readers: make(chan struct{}), serving: make(chan struct{}),
	}
	if len(c.Args) == 0 {
		p.cmd.Args = []string{c.Path}
	}
	var theirs []*os.File // the child's ends: closed here once it has them
	defer func() { closeAll(theirs) }()
	output := func(w io.Writer) (*os.File, *os.File, error) {
		if w == nil {
			return nil, nil, nil
		}
		r, w2, err := os.Pipe()
		if err == nil {
			theirs = append(theirs, w2)
			p.pipes = append(p.pipes, r)
		}
		return r, w2, err
	}
	fail := func(err error) (*process, error) {
		closeAll(p.pipes)
		return nil, err
	}
	type stream struct {
		from *os.File
		to   io.Writer
	}
	var streams []stream
	r, w, err := output(c.Stdout)
	if err != nil {
		return fail(err)
	}
	if w != nil {
		p.cmd.Stdout = w
		streams = append(streams, stream{r, c.Stdout})
	}
	if c.Stderr != nil && same(c.Stderr, c.Stdout) {
		p.cmd.Stderr = p.cmd.Stdout
	} else {
		r, w, err := output(c.Stderr)
		if err != nil {
			return fail(err)
		}
		if w != nil {
			p.cmd.Stderr = w
			streams = append(streams, stream{r, c.Stderr})
		}
	}
	var input *os.File
	if c.Stdin != nil {
		r, w, err := os.Pipe()
		if err != nil {
			return fail(err)
		}
		theirs = append(theirs, r)
		p.pipes = append(p.pipes, w)
		p.cmd.Stdin, input = r, w
	}
	if p.group, err = live.start(p.cmd); err != nil {
		return fail(err)
	}

	if input == nil {
		close(p.serving)
	} else {
		go func() {
			defer close(p.serving)
			// A program that does not read its input is no fault: the broken pipe ends the copying.
			_, _ = io.Copy(input, c.Stdin)
			_ = input.Close()
		}()
	}
	open := make(chan struct{}, len(streams))
	for _, s := range streams {
		go func() {
			_, _ = io.Copy(s.to, onlyReader{s.from})
			// Closing it is what tells a program that goes on writing that nobody reads.
			_ = s.from.Close()
			open <- struct{}{}
		}()
	}
	go func() {
		for range streams {
			<-open
		}
		close(p.readers)
	}()
	go func() {
		p.waitErr = p.cmd.Wait()
		close(p.ended)
	}()
	return p, nil
}

// drain waits until all output is read, for a short time and until ctx is done, and reports whether it was.
func (p *process) drain(ctx context.Context) bool {
	t := time.NewTimer(Drain)
	defer t.Stop()
	select {
	case <-p.readers:
		return true
	case <-t.C:
	case <-ctx.Done():
	}
	return false
}

// closePipes ends the reading and the writing, and waits for those who did it.
func (p *process) closePipes() {
	closeAll(p.pipes)
	<-p.readers
	<-p.serving
}

func (p *process) close() { live.forget(p.group) }

func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close()
	}
}

// onlyReader hides what else a file can do, so that io.Copy moves bytes through one buffer at a time.
type onlyReader struct{ io.Reader }

// same reports whether both are one writer. Writers that can't be compared are two.
func same(a, b io.Writer) (equal bool) {
	defer func() {
		if recover() != nil {
			equal = false
		}
	}()
	return a == b
}
