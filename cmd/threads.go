package crystalcmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/crystalkernel/crystal/internal/home"
	"github.com/crystalkernel/crystal/internal/terminal"
	"github.com/crystalkernel/crystal/kernel/threadlog"
)

// threadsCommand makes the verbs about stored threads. They work on the store alone: no plugin is started, so that a thread
// can be put away in a home whose configuration or plugins are broken.
func (p *program) threadsCommand() *cobra.Command {
	verb := func(use, short string, run func(ctx context.Context, s *threadlog.DiskStore, e threadlog.Entry) error) *cobra.Command {
		return &cobra.Command{
			Use: use, Short: short, Args: oneThread,
			RunE: func(c *cobra.Command, args []string) error {
				s, err := p.threads()
				if err != nil {
					return err
				}
				e, err := threadlog.Find(c.Context(), s, args[0])
				if err != nil {
					return fmt.Errorf("%s: %w", c.CommandPath(), err)
				}
				if err := run(c.Context(), s, e); err != nil {
					return fmt.Errorf("%s: %w", c.CommandPath(), err)
				}
				return nil
			},
		}
	}
	var at string
	fork := verb("fork <id>", "Copy a thread up to a place into a new one", func(ctx context.Context, s *threadlog.DiskStore, e threadlog.Entry) error {
		child, err := s.Fork(ctx, e.ID, at)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(p.stdout, child)
		return err
	})
	fork.Flags().StringVar(&at, "at", "", "record number or item id (default: the end of the last turn)")
	var yes bool
	remove := verb("delete <id>", "Delete a thread with its outputs and images", func(ctx context.Context, s *threadlog.DiskStore, e threadlog.Entry) error {
		if !yes {
			if err := p.confirm(fmt.Sprintf("Delete the thread %s %q?", e.ID, terminal.Line(e.Title, 60))); err != nil {
				return err
			}
		}
		return s.Delete(ctx, e.ID)
	})
	remove.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return group("threads", "List, show, copy and put away threads",
		p.threadsList(), p.threadsShow(verb), fork,
		verb("archive <id>", "Take a thread out of the list", func(ctx context.Context, s *threadlog.DiskStore, e threadlog.Entry) error {
			if e.Archived {
				return nil
			}
			return s.Archive(ctx, e.ID)
		}),
		verb("unarchive <id>", "Take a thread back into the list", func(ctx context.Context, s *threadlog.DiskStore, e threadlog.Entry) error {
			if !e.Archived {
				return nil
			}
			return s.Unarchive(ctx, e.ID)
		}),
		remove, p.threadsExport(verb))
}

func oneThread(c *cobra.Command, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("%s takes one thread: its id, or at least 4 characters of it", c.CommandPath())
	}
	return nil
}

// threads opens the store of the home directory.
func (p *program) threads() (*threadlog.DiskStore, error) {
	h, err := home.Find(p.options.home, p.env)
	if err != nil {
		return nil, err
	}
	return threadlog.Disk(string(h)), nil
}

type verbMaker = func(use, short string, run func(ctx context.Context, s *threadlog.DiskStore, e threadlog.Entry) error) *cobra.Command

func (p *program) threadsList() *cobra.Command {
	var format formatOptions
	var all, archived bool
	var limit int
	c := &cobra.Command{
		Use: "list", Short: "List the threads of the workspace, newest first", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			f, err := format.parse()
			if err != nil {
				return err
			}
			if limit < 0 {
				return fmt.Errorf("--limit takes a number of 0 or more, not %d", limit)
			}
			return p.listThreads(c.Context(), f, all, archived, limit)
		},
	}
	format.add(c.Flags())
	c.Flags().BoolVar(&all, "all", false, "threads of every workspace")
	c.Flags().BoolVar(&archived, "archived", false, "the archived ones instead of the others")
	c.Flags().IntVar(&limit, "limit", 0, "at most this many; 0 for all")
	return c
}

func (p *program) listThreads(ctx context.Context, f terminal.Format, all, archived bool, limit int) error {
	pl, err := p.directories()
	if err != nil {
		return err
	}
	filter := threadlog.Filter{Workspace: pl.workspace.Path, Archived: archived, Limit: limit}
	if all {
		filter.Workspace = ""
	}
	entries, notes, err := threadlog.Disk(string(pl.home)).List(ctx, filter)
	if err != nil {
		return fmt.Errorf("listing threads: %w", err)
	}
	p.threadNotes(notes)
	l := terminal.Listing{
		Columns: []string{"Id", "Updated", "Mode", "Turns", "Title", "Workspace", "State"},
		Empty:   "There are no threads.",
	}
	for _, e := range entries {
		l.Rows = append(l.Rows, []string{
			e.ID, e.Updated.Local().Format("2006-01-02 15:04"), e.Mode, strconv.Itoa(e.Turns), e.Title, e.Workspace, threadState(e),
		})
		l.Records = append(l.Records, newThreadRecord(e))
	}
	return l.Print(p.out(), f)
}

type threadRecord struct {
	ID        string  `json:"id"`
	Created   string  `json:"created"`
	Updated   string  `json:"updated"`
	Mode      *string `json:"mode"`
	Turns     int     `json:"turns"`
	Title     *string `json:"title"`
	Workspace *string `json:"workspace"`
	State     string  `json:"state"`
}

func newThreadRecord(e threadlog.Entry) threadRecord {
	return threadRecord{
		e.ID, utc(e.Created), utc(e.Updated), orNull(e.Mode), e.Turns, orNull(e.Title), orNull(e.Workspace), threadState(e),
	}
}

func utc(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// threadState is the cell of a thread's state.
func threadState(e threadlog.Entry) string {
	switch {
	case e.Newer:
		return "newer"
	case e.InUse:
		return "in use"
	case e.Archived:
		return "archived"
	}
	return "ok"
}

func (p *program) threadNotes(notes []threadlog.Note) {
	for _, n := range notes {
		p.note(home.Note{Code: home.Code(n.Code), Text: n.Message})
	}
}

func (p *program) threadsShow(verb verbMaker) *cobra.Command {
	var format formatOptions
	c := verb("show <id>", "Show what a thread is", func(ctx context.Context, s *threadlog.DiskStore, e threadlog.Entry) error {
		f, err := format.parse()
		if err != nil {
			return err
		}
		return p.showThread(ctx, f, s, e)
	})
	format.add(c.Flags())
	return c
}

func (p *program) showThread(ctx context.Context, f terminal.Format, s *threadlog.DiskStore, e threadlog.Entry) error {
	picture, notes, err := s.Read(ctx, e.ID)
	if err != nil {
		return err
	}
	p.threadNotes(notes)
	state := picture.State()
	var calls, results int
	stop := ""
	for _, r := range picture.Records() {
		switch r := r.(type) {
		case *threadlog.Call:
			calls++
		case *threadlog.Result:
			results++
		case *threadlog.TurnEnd:
			stop = r.Stop
		}
	}
	path, err := s.File(e.ID)
	if err != nil {
		return err
	}
	fork := ""
	if o := state.Thread.Fork; o != nil {
		fork = fmt.Sprintf("%s at %d", o.Thread, o.Seq)
	}
	if f == terminal.JSON {
		return terminal.PrintJSON(p.out(), struct {
			threadRecord
			Fork     *string `json:"fork"`
			Provider *string `json:"provider"`
			Model    *string `json:"model"`
			Records  int     `json:"records"`
			Items    int     `json:"items"`
			Calls    int     `json:"calls"`
			Results  int     `json:"results"`
			LastStop *string `json:"lastStop"`
			Version  *string `json:"version"`
			Path     string  `json:"path"`
		}{
			newThreadRecord(e), orNull(fork), orNull(state.Provider), orNull(state.Model), len(picture.Records()),
			len(picture.Transcript()), calls, results, orNull(stop), orNull(state.Thread.Version), path,
		})
	}
	return terminal.PrintPairs(p.out(),
		terminal.Pair{Label: "Id", Value: e.ID}, terminal.Pair{Label: "Title", Value: e.Title},
		terminal.Pair{Label: "Workspace", Value: e.Workspace}, terminal.Pair{Label: "Created", Value: utc(e.Created)},
		terminal.Pair{Label: "Updated", Value: utc(e.Updated)}, terminal.Pair{Label: "Mode", Value: e.Mode},
		terminal.Pair{Label: "Forked from", Value: fork}, terminal.Pair{Label: "Provider", Value: state.Provider},
		terminal.Pair{Label: "Model", Value: state.Model}, terminal.Pair{Label: "Turns", Value: strconv.Itoa(e.Turns)},
		terminal.Pair{Label: "Records", Value: strconv.Itoa(len(picture.Records()))},
		terminal.Pair{Label: "Items", Value: strconv.Itoa(len(picture.Transcript()))},
		terminal.Pair{Label: "Calls", Value: strconv.Itoa(calls)}, terminal.Pair{Label: "Results", Value: strconv.Itoa(results)},
		terminal.Pair{Label: "Last stop", Value: stop}, terminal.Pair{Label: "Host version", Value: state.Thread.Version},
		terminal.Pair{Label: "State", Value: threadState(e)}, terminal.Pair{Label: "Path", Value: path})
}

func (p *program) threadsExport(verb verbMaker) *cobra.Command {
	var format, output string
	var force bool
	c := verb("export <id>", "Write a thread to stdout or a new file", func(ctx context.Context, s *threadlog.DiskStore, e threadlog.Entry) error {
		switch threadlog.Format(format) {
		case threadlog.JSONL, threadlog.JSON, threadlog.Markdown:
		default:
			return fmt.Errorf("unknown format %q; use jsonl, json or markdown", format)
		}
		write := func(w io.Writer) error {
			notes, err := threadlog.Export(ctx, s, e.ID, threadlog.Format(format), w)
			p.threadNotes(notes)
			return err
		}
		if output == "" {
			return write(p.stdout)
		}
		return exportFile(output, force, write)
	})
	c.Flags().StringVar(&format, "format", string(threadlog.JSONL), "jsonl, json or markdown")
	c.Flags().StringVarP(&output, "output", "o", "", "file to write")
	c.Flags().BoolVar(&force, "force", false, "overwrite the file")
	return c
}

// exportFile writes a new file; an old one is replaced only when that was asked for. A failed export leaves no new file.
func exportFile(path string, force bool, write func(io.Writer) error) (err error) {
	flags := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	if force {
		flags = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	}
	f, err := os.OpenFile(filepath.Clean(path), flags, 0o600)
	if errors.Is(err, os.ErrExist) {
		return fmt.Errorf("%s exists; use --force to overwrite it", path)
	}
	if err != nil {
		return err
	}
	defer func() {
		if err = errors.Join(err, f.Close()); err != nil && !force {
			_ = os.Remove(path)
		}
	}()
	return write(f)
}

// confirm asks on the terminal. Without one nobody can be asked.
func (p *program) confirm(question string) error {
	if !terminal.IsTerminal(p.stdin) {
		return fmt.Errorf("nobody can be asked here; use --yes")
	}
	fmt.Fprint(p.stderr, question+" [y/N] ")
	answer, _ := bufio.NewReader(p.stdin).ReadString('\n')
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return nil
	}
	return fmt.Errorf("nothing was done")
}
