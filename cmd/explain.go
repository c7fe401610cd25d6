package crystalcmd

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/crystalkernel/crystal/internal/home"
	"github.com/crystalkernel/crystal/internal/terminal"
	"github.com/crystalkernel/crystal/kernel"
	"github.com/crystalkernel/crystal/kernel/threadlog"
)

// explainOptions are the options of crystal explain.
type explainOptions struct {
	format formatOptions
	mode   string
	thread string
}

// explainer makes the listing of one subject.
type explainer func(ctx context.Context, k *kernel.Kernel, thread string, o kernel.Options) (terminal.Listing, error)

func (p *program) explainCommand() *cobra.Command {
	var o explainOptions
	subject := func(use, short string, explain explainer) *cobra.Command {
		c := &cobra.Command{
			Use: use, Short: short, Args: cobra.NoArgs,
			RunE: func(c *cobra.Command, _ []string) error { return p.explain(c.Context(), &o, explain) },
		}
		o.format.add(c.Flags())
		c.Flags().StringVar(&o.mode, "mode", "", "work or plan (default: the thread's, else the configuration's)")
		c.Flags().StringVar(&o.thread, "thread", "", "a stored thread: its id, or at least 4 characters of it")
		return c
	}
	return group("explain", "Show what is effective in the next turn, why, and what it costs in each request",
		subject("prompt", "Show whose each part of the system prompt is, and what lost to it", explainPrompt),
		subject("tools", "Show whose each tool is, and what became of those that are not there", explainTools),
		subject("commands", "Show whose each slash command is, and the name that reaches it", explainCommands),
		subject("hooks", "Show the hooks in the order in which a turn comes to them", explainHooks))
}

// explain prints what one subject is in the next turn of a new thread, or of a stored one.
func (p *program) explain(ctx context.Context, o *explainOptions, explain explainer) error {
	f, err := o.format.parse()
	if err != nil {
		return err
	}
	if o.mode != "" && !slices.Contains(home.Modes, o.mode) {
		return fmt.Errorf("unknown mode %q; use work or plan", o.mode)
	}
	return p.withHost(ctx, func(pl *place, h *host) error {
		options := kernel.Options{Workspace: pl.workspace.Path, Mode: o.mode, Approval: pl.settings.Config.Approval}
		id := ""
		if o.thread != "" {
			e, err := threadlog.Find(ctx, h.kernel.Threads(), o.thread)
			if err != nil {
				return fmt.Errorf("explaining: %w", err)
			}
			if e.Workspace != "" && e.Workspace != pl.workspace.Path {
				return fmt.Errorf("explaining: thread %s belongs to %s; use -C %[2]s", e.ID, e.Workspace)
			}
			id = e.ID
		} else if options.Mode == "" {
			options.Mode = pl.settings.Config.Mode
		}
		l, err := explain(ctx, h.kernel, id, options)
		if err != nil {
			return fmt.Errorf("explaining: %w", err)
		}
		return l.Print(p.out(), f)
	})
}

// total is the last line of an explanation as JSON.
type total struct {
	Kind   string `json:"kind"` // total
	Bytes  int    `json:"bytes"`
	Tokens int    `json:"tokens"`
}

// sum ends a listing with what all of it costs.
func sum(l *terminal.Listing, bytes, tokens int) {
	row := make([]string, len(l.Columns))
	row[0] = "total"
	for i, c := range l.Columns {
		switch c {
		case "Bytes":
			row[i] = strconv.Itoa(bytes)
		case "Tokens":
			row[i] = strconv.Itoa(tokens)
		}
	}
	l.Rows, l.Records = append(l.Rows, row), append(l.Records, total{"total", bytes, tokens})
}

func explainPrompt(ctx context.Context, k *kernel.Kernel, thread string, o kernel.Options) (terminal.Listing, error) {
	l := terminal.Listing{Columns: []string{"Part", "Kind", "Owner", "Order", "Bytes", "Tokens", "Why"}}
	e, err := k.ExplainPrompt(ctx, thread, o)
	if err != nil {
		return l, err
	}
	for _, part := range e.Parts {
		name, order := part.Name, ""
		if part.Owner != "" {
			order = strconv.Itoa(part.Order)
		}
		if name == "" {
			name = string(part.Kind)
		}
		l.Rows = append(l.Rows, []string{
			name, string(part.Kind), part.Owner, order, strconv.Itoa(part.Bytes), strconv.Itoa(part.Tokens), reason(&part.Explained),
		})
		l.Records = append(l.Records, part)
	}
	sum(&l, len(e.Text), e.Tokens)
	return l, nil
}

func explainTools(ctx context.Context, k *kernel.Kernel, thread string, o kernel.Options) (terminal.Listing, error) {
	l := terminal.Listing{Columns: []string{"Name", "Wire name", "Owner", "Exposure", "Bytes", "Tokens", "Why"}}
	tools, err := k.ExplainTools(ctx, thread, o)
	bytes, tokens := 0, 0
	for _, t := range tools {
		why := []string{}
		for _, by := range t.Edits {
			why = append(why, "edited by "+by)
		}
		if lost := reason(&t.Explained); lost != "" {
			why = append(why, lost)
		}
		l.Rows = append(l.Rows, []string{
			t.Name, t.WireName, t.Owner, string(t.Exposure), strconv.Itoa(t.Bytes), strconv.Itoa(t.Tokens), strings.Join(why, "; "),
		})
		l.Records = append(l.Records, t)
		bytes, tokens = bytes+t.Bytes, tokens+t.Tokens
	}
	sum(&l, bytes, tokens)
	return l, err
}

func explainCommands(ctx context.Context, k *kernel.Kernel, thread string, o kernel.Options) (terminal.Listing, error) {
	l := terminal.Listing{Columns: []string{"Command", "Aliases", "Kind", "Owner", "Bytes", "Tokens", "Why"}}
	commands, err := k.ExplainCommands(ctx, thread, o)
	bytes, tokens := 0, 0
	for _, c := range commands {
		why := ""
		if c.KeptBy != "" {
			why = "short name kept by " + c.KeptBy
		}
		l.Rows = append(l.Rows, []string{
			"/" + c.Reached(), list(c.Aliases), string(c.Kind), c.Owner, strconv.Itoa(c.Bytes), strconv.Itoa(c.Tokens), why,
		})
		l.Records = append(l.Records, c)
		bytes, tokens = bytes+c.Bytes, tokens+c.Tokens
	}
	sum(&l, bytes, tokens)
	return l, err
}

func explainHooks(ctx context.Context, k *kernel.Kernel, thread string, o kernel.Options) (terminal.Listing, error) {
	l := terminal.Listing{Columns: []string{"Point", "Owner", "Label", "Order", "Scope", "Deadline", "Bytes", "Tokens", "When"}}
	hooks, err := k.ExplainHooks(ctx, thread, o)
	bytes, tokens := 0, 0
	for _, h := range hooks {
		if len(h.Entries) == 0 {
			l.Rows = append(l.Rows, []string{h.Point, "", "", "", "", "", "", "", h.When})
		}
		for _, e := range h.Entries {
			cost, estimate := "", ""
			if e.Bytes != nil {
				cost, estimate = strconv.Itoa(*e.Bytes), strconv.Itoa(*e.Tokens)
				bytes, tokens = bytes+*e.Bytes, tokens+*e.Tokens
			}
			when := h.When
			if lost := reason(&e.Explained); lost != "" {
				when += "; " + lost
			}
			l.Rows = append(l.Rows, []string{
				h.Point, e.Owner, e.Label, strconv.Itoa(e.Order), scopeOf(e.Thread), e.Deadline, cost, estimate, when,
			})
		}
		l.Records = append(l.Records, h)
	}
	sum(&l, bytes, tokens)
	return l, err
}

// reason says what a contribution replaced, or why it is without effect.
func reason(e *kernel.Explained) string {
	var parts []string
	if e.Lost != "" {
		text := string(e.Lost)
		if e.LostTo != "" {
			text += " by " + e.LostTo
		}
		if e.Detail != "" {
			text += " (" + e.Detail + ")"
		}
		parts = append(parts, text)
	}
	if e.Replaces != "" {
		text := "replaces " + e.Replaces
		if len(e.Beats) > 0 {
			text += " of " + list(e.Beats)
		}
		parts = append(parts, text)
	}
	if e.Thread != "" {
		parts = append(parts, scopeOf(e.Thread))
	}
	return strings.Join(parts, "; ")
}

// scopeOf names the scope of a contribution.
func scopeOf(thread string) string {
	if thread == "" {
		return "workspace"
	}
	return "thread " + thread
}
