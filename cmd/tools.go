package crystalcmd

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/crystalkernel/crystal/internal/home"
	"github.com/crystalkernel/crystal/internal/terminal"
	"github.com/crystalkernel/crystal/kernel"
	"github.com/crystalkernel/crystal/kernel/toolset"
	"github.com/crystalkernel/crystal/points/tool"
)

func (p *program) toolsCommand() *cobra.Command {
	var format formatOptions
	var mode string
	catalog := &cobra.Command{
		Use: "catalog", Short: "List the tools that a new thread would have", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			f, err := format.parse()
			if err != nil {
				return err
			}
			if mode != "" && !slices.Contains(home.Modes, mode) {
				return fmt.Errorf("unknown mode %q; use work or plan", mode)
			}
			return p.listTools(c.Context(), f, mode)
		},
	}
	format.add(catalog.Flags())
	catalog.Flags().StringVar(&mode, "mode", "", "work or plan")
	return group("tools", "Show the tools, and switch external tool sets", append(p.toolSetVerbs(), catalog)...)
}

// toolRecord is one tool as a line of JSON.
type toolRecord struct {
	Name        string          `json:"name"`
	WireName    string          `json:"wireName"`
	Origin      string          `json:"origin"`
	Catalogs    []string        `json:"catalogs"`
	Exposure    string          `json:"exposure"`
	Risk        string          `json:"risk"`
	Authority   string          `json:"authority"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"inputSchema"`
}

func (p *program) listTools(ctx context.Context, f terminal.Format, mode string) error {
	return p.withHost(ctx, func(pl *place, h *host) error {
		if mode == "" {
			mode = pl.settings.Config.Mode
		}
		snapshot, diagnostics, err := h.kernel.PlanTools(ctx, "", kernel.Options{Workspace: pl.workspace.Path, Mode: mode})
		if err != nil {
			return fmt.Errorf("planning the tools: %w", err)
		}
		for _, d := range diagnostics {
			p.note(home.Note{Code: home.Code(d.Code), Text: d.Message + parameters(d.Params)})
		}
		l := terminal.Listing{
			Columns: []string{"Name", "Wire name", "Origin", "Catalogs", "Exposure", "Risk"}, Empty: "There are no tools.",
		}
		judges := len(tool.Classifiers.In(h.registry.View(), "")) > 0
		for _, t := range snapshot.Tools() {
			r := newToolRecord(t, judges)
			l.Records = append(l.Records, r)
			l.Rows = append(l.Rows, []string{r.Name, r.WireName, r.Origin, list(r.Catalogs), r.Exposure, r.Risk})
		}
		return l.Print(p.out(), f)
	})
}

// newToolRecord describes a tool. judges says that some contribution judges calls of plugins' tools.
func newToolRecord(t *toolset.Tool, judges bool) toolRecord {
	d := t.Definition
	r := toolRecord{
		Name: d.Canonical(), WireName: t.Flat, Origin: string(d.Key.Kind), Catalogs: []string{}, Exposure: string(d.Exposure),
		Risk: depends, Authority: depends, Description: d.Description, InputSchema: d.InputSchema,
	}
	if d.Key.Owner != "" {
		r.Origin += ":" + d.Key.Owner
	}
	r.Catalogs = append(r.Catalogs, catalogs(home.Offer{
		Plan: d.Catalogs&tool.CatalogPlan != 0, Work: d.Catalogs&tool.CatalogWork != 0,
	})...)
	if t.Binding.Classify == nil && !judges {
		r.Risk, r.Authority = byHints(d.Hints)
	}
	return r
}

// depends stands for a judgement that depends on the arguments of a call.
const depends = "depends"

// byHints is the judgement of a call that only the tool's hints speak about.
func byHints(h *tool.Hints) (risk, authority string) {
	r, a := tool.Write, tool.Workspace
	switch {
	case h == nil:
		r, a = tool.Privileged, tool.PrivilegedEscalation
	case h.Destructive:
		r = tool.Privileged
	case h.ReadOnly:
		r = tool.Read
	}
	if h != nil && h.OpenWorld {
		a = tool.Network
	}
	return r.String(), a.String()
}

// parameters shows the parameters of a diagnostic.
func parameters(params map[string]any) string {
	text := ""
	for _, key := range sortedKeys(params) {
		text += fmt.Sprintf(" %s=%v", key, params[key])
	}
	return text
}
