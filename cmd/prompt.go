package crystalcmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/crystalkernel/crystal/cmd/internal/headless"
	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/internal/home"
	"github.com/crystalkernel/crystal/internal/terminal"
	"github.com/crystalkernel/crystal/kernel/composer"
	"github.com/crystalkernel/crystal/points/hook"
	"github.com/crystalkernel/crystal/points/prompt"
)

// promptModes are the modes that have a prompt.
var promptModes = []string{"work", "plan", "review", "compaction", "image"}

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
		// A model that can't be chosen leaves its names blank in the prompt.
		choice, _ := pl.settings.Choose(home.Wanted{}, home.Wanted{})
		in, err := p.promptInputs(ctx, pl, h, mode, choice)
		if err != nil {
			return err
		}
		v := h.registry.View()
		if !sections {
			text, err := composer.Compose(ctx, v, in)
			if err != nil {
				return fmt.Errorf("composing the prompt: %w", err)
			}
			_, err = fmt.Fprintln(p.stdout, terminal.Clean(text))
			return err
		}
		parts, err := composer.Parts(ctx, v, in)
		if err != nil {
			return fmt.Errorf("composing the prompt: %w", err)
		}
		for i, part := range parts {
			text, err := composer.Bind(ctx, v, in, part.Text)
			if err != nil {
				return fmt.Errorf("composing the prompt: %w", err)
			}
			head := "=== " + part.Name + ", order " + strconv.Itoa(part.Entry.Order) + ", " + part.Entry.Origin.String()
			if i > 0 {
				head = "\n" + head
			}
			if _, err := fmt.Fprintf(p.stdout, "%s\n%s\n", terminal.Clean(head), terminal.Clean(text)); err != nil {
				return err
			}
		}
		return nil
	})
}

// promptInputs are what the prompt of a new thread is composed from.
func (p *program) promptInputs(ctx context.Context, pl *place, h *host, mode string, choice home.Choice) (composer.Inputs, error) {
	snapshot, _, err := h.plan(ctx, "", headless.Init{
		Mode: mode, Workspace: pl.workspace.Path, Provider: choice.Provider.Name, Model: choice.Model,
	}, choice.Entry.ImageInput)
	if err != nil {
		return composer.Inputs{}, fmt.Errorf("planning the tools: %w", err)
	}
	var tools []string
	for _, t := range snapshot.Models() {
		tools = append(tools, t.Name)
	}
	b := prompt.Binding{
		Mode: mode, Workspace: pl.workspace.Path, Approval: pl.settings.Config.Approval, Provider: choice.Provider.Name, Model: choice.Model,
	}
	return composer.Inputs{
		Context: prompt.Context{Workspace: b.Workspace, Mode: mode, Client: clientRun, Tools: tools},
		Binding: b,
		Hook:    hook.PromptInfo{Scope: hook.Scope{Workspace: b.Workspace}, Mode: mode},
		Host:    p.placeholders(b),
		Report: func(e *contrib.EntryInfo, f *contrib.CallError) {
			p.note(home.Note{Code: home.Code(contrib.CodeCallFailed), Text: fmt.Sprintf("%s failed at %s (%s)", e.Origin, f.Point, f.Cause)})
		},
	}, nil
}

// placeholders resolves the names that the host owns, outside of a turn.
func (p *program) placeholders(b prompt.Binding) func(name string) string {
	workspace := filepath.ToSlash(b.Workspace)
	platform := runtime.GOOS + "/" + runtime.GOARCH
	date := p.now().Format("2006-01-02")
	root := filepath.ToSlash(gitRoot(b.Workspace))
	values := map[string]string{
		"workspace": workspace, "provider": b.Provider, "model": b.Model, "model_line": b.Provider + "/" + b.Model, "mode": b.Mode,
		"approval": b.Approval, "product_name": "Crystal", "platform": platform, "os": runtime.GOOS, "architecture": runtime.GOARCH,
		"date": date, "time": p.now().Format("15:04 -07:00"), "git_root": root, "is_git_repo": strconv.FormatBool(root != ""),
		"env": "Workspace: " + workspace + "\nPlatform: " + platform + "\nDate: " + date,
	}
	return func(name string) string { return values[name] }
}

// gitRoot returns the nearest directory that holds .git, from dir upwards; blank for none.
func gitRoot(dir string) string {
	for {
		if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil {
			return dir
		} else if !errors.Is(err, os.ErrNotExist) || filepath.Dir(dir) == dir {
			return ""
		}
		dir = filepath.Dir(dir)
	}
}
