package crystalcmd

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/crystalkernel/crystal/internal/home"
	"github.com/crystalkernel/crystal/internal/terminal"
	"github.com/crystalkernel/crystal/kernel"
	"github.com/crystalkernel/crystal/kernel/approval/review"
	"github.com/crystalkernel/crystal/kernel/compaction"
	"github.com/crystalkernel/crystal/points/prompt"
)

// promptModes are the modes that have a prompt.
var promptModes = []string{"work", "plan", "review", "compaction"}

func (p *program) promptCommand() *cobra.Command {
	var mode string
	var sections bool
	show := func(c *cobra.Command, _ []string) error {
		if !slices.Contains(promptModes, mode) {
			return fmt.Errorf("unknown mode %q; use %s", mode, list(promptModes))
		}
		return p.showPrompt(c.Context(), mode, sections)
	}
	verb := &cobra.Command{Use: "show", Short: "Print the composed prompt, as a turn would send it", Args: cobra.NoArgs, RunE: show}
	all := group("prompt", "Show the system prompt", verb)
	all.RunE = show
	for _, c := range []*cobra.Command{all, verb} {
		c.Flags().StringVar(&mode, "mode", "work", list(promptModes))
		c.Flags().BoolVar(&sections, "sections", false, "put a line with name, order and origin before each section")
	}
	return all
}

// showPrompt composes the prompt of a new thread, without a model call.
func (p *program) showPrompt(ctx context.Context, mode string, sections bool) error {
	return p.withHost(ctx, func(pl *place, h *host) error {
		b := prompt.Binding{Mode: mode, Workspace: pl.workspace.Path, Approval: pl.settings.Config.Approval}
		// A model that can't be chosen leaves its names blank in the prompt.
		if choice, err := pl.settings.Choose(home.Wanted{}, home.Wanted{}); err == nil {
			b.Provider, b.Model = choice.Provider.Name, choice.Model
		}
		switch mode {
		case "review":
			return p.printPrompt(ctx, h, b, review.DefaultSystem, nil)
		case "compaction":
			return p.printPrompt(ctx, h, b, compaction.SystemTemplate, nil)
		}
		e, err := h.kernel.ExplainPrompt(ctx, "", kernel.Options{Mode: mode, Workspace: b.Workspace, Approval: b.Approval})
		if err != nil {
			return fmt.Errorf("composing the prompt: %w", err)
		}
		if !sections {
			_, err = fmt.Fprintln(p.stdout, terminal.Clean(e.Text))
			return err
		}
		return p.printPrompt(ctx, h, b, "", e.Parts)
	})
}

// printPrompt prints a template, or sections each behind a line that says whose it is, with the placeholders bound.
func (p *program) printPrompt(ctx context.Context, h *host, b prompt.Binding, template string, parts []kernel.PromptPart) error {
	if parts == nil {
		text, err := h.kernel.Bind(ctx, b, template)
		if err != nil {
			return fmt.Errorf("composing the prompt: %w", err)
		}
		_, err = fmt.Fprintln(p.stdout, terminal.Clean(text))
		return err
	}
	between := ""
	for _, part := range parts {
		if part.Kind != kernel.SectionPart || part.Lost != "" {
			continue
		}
		text, err := h.kernel.Bind(ctx, b, part.Text)
		if err != nil {
			return fmt.Errorf("composing the prompt: %w", err)
		}
		head := between + "=== " + part.Name + ", order " + strconv.Itoa(part.Order) + ", " + part.Owner
		between = "\n"
		if _, err := fmt.Fprintf(p.stdout, "%s\n%s\n", terminal.Clean(head), terminal.Clean(text)); err != nil {
			return err
		}
	}
	return nil
}
