package crystalcmd

import (
	"context"
	"fmt"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/internal/home"
	"github.com/crystalkernel/crystal/plugins"
	hostpoint "github.com/crystalkernel/crystal/points/host"
	"github.com/crystalkernel/crystal/points/rawhook"
)

// attach publishes the catalogs of a host that has started, and tells those who asked to be told. One that fails costs a
// note.
func (h *host) attach(ctx context.Context, rows []home.Row) error {
	c := h.catalog(rows)
	h.plugins.Attach(c)
	h.status.Load(h.active)
	failed, err := h.kernel.Attach(ctx, environment(c))
	for _, n := range failed {
		h.notes = append(h.notes, home.Note{
			Code: home.Code(n.Code), Severity: home.Warning, Plugin: n.Plugin, Point: n.Point, Label: n.Label,
			Text: fmt.Sprintf("%s failed at %s (%s); the plugin stays", n.Plugin, n.Point, n.Params["cause"]),
		}.Cleaned())
	}
	return err
}

// catalog is every plugin directory, and every plugin without one.
func (h *host) catalog(rows []home.Row) plugins.Catalog {
	var c plugins.Catalog
	placed := make(map[string]bool)
	snapshot := h.plugins.Snapshot()
	for _, r := range rows {
		one := plugins.Listed{
			Directory: r.Directory, Source: r.Source, ID: r.Manifest.ID, Enabled: r.Enabled, Effective: r.Effective,
		}
		if r.Problem != nil {
			one.SkipReason = r.Problem.Text
		}
		if s, ok := snapshot.Find(r.Manifest.ID); ok && s.Directory == r.Directory && s.Source == r.Source {
			describe(&one, s)
		}
		placed[r.Manifest.ID] = true
		c.Plugins = append(c.Plugins, one)
	}
	for _, s := range snapshot.Plugins {
		if placed[s.ID] {
			continue
		}
		one := plugins.Listed{Source: s.Source, ID: s.ID, Enabled: &s.Enabled, Effective: true}
		describe(&one, s)
		c.Plugins = append(c.Plugins, one)
	}
	for i := range h.sets {
		addToolSet(&c, &h.sets[i])
	}
	return c
}

// addToolSet lists one external tool set, and its tools if it is loaded.
func addToolSet(c *plugins.Catalog, r *home.ToolSetRow) {
	one := plugins.Listed{Directory: r.Directory, Source: r.Source, Enabled: r.Enabled, Effective: r.Effective, Loaded: r.Loaded()}
	if r.Problem != nil {
		one.SkipReason = r.Problem.Text
	}
	c.ToolSets = append(c.ToolSets, one)
	if !one.Loaded {
		return
	}
	for _, t := range r.ToolSet.Tools {
		c.ExternalTools = append(c.ExternalTools, plugins.ExternalTool{
			Name: t.Name, Set: r.Directory, Source: r.Source, Plan: t.Plan, Work: t.Work,
		})
	}
}

// describe adds what the runtime knows about a plugin.
func describe(one *plugins.Listed, s plugins.Status) {
	if one.Loaded = s.State == plugins.Active; one.Loaded {
		one.Name = s.Name
	}
	if one.SkipReason == "" && len(s.Blockers) > 0 {
		one.SkipReason = s.Blockers[0].Text
	}
}

// environment is the catalog as the point host.attached shows it.
func environment(c plugins.Catalog) hostpoint.Environment {
	var e hostpoint.Environment
	for _, p := range c.Plugins {
		e.Plugins = append(e.Plugins, hostpoint.Plugin{
			Directory: p.Directory, Source: string(p.Source), ID: p.ID, DisplayName: p.Name, Enabled: p.Enabled, Effective: p.Effective,
			Loaded: p.Loaded, SkipReason: p.SkipReason,
		})
	}
	for _, s := range c.ToolSets {
		e.ToolSets = append(e.ToolSets, hostpoint.ToolSet{
			Directory: s.Directory, Source: string(s.Source), Enabled: s.Enabled, Effective: s.Effective, Loaded: s.Loaded, SkipReason: s.SkipReason,
		})
	}
	for _, t := range c.ExternalTools {
		e.ExternalTools = append(e.ExternalTools, hostpoint.ExternalTool{
			Name: t.Name, Set: t.Set, Source: string(t.Source), Plan: t.Plan, Work: t.Work,
		})
	}
	return e
}

// privileges are the notes about plugins that may do more than others.
func (h *host) privileges() []home.Note {
	count := make(map[string]int)
	v := h.registry.View()
	for _, point := range []contrib.AnyPoint{
		rawhook.RebuildModels, rawhook.RewritePrompts, rawhook.RewriteCompactions, rawhook.RewriteApprovals,
	} {
		for _, e := range point.Infos(v, "") {
			if e.Origin.Kind() == "plugin" {
				count[e.Origin.ID()]++
			}
		}
	}
	var notes []home.Note
	for _, s := range h.plugins.Snapshot().Plugins {
		n := count[s.ID]
		if n == 0 {
			continue
		}
		text := fmt.Sprintf("the plugin %s registers %d raw hooks, which may change everything that goes to the model", s.ID, n)
		if n == 1 {
			text = fmt.Sprintf("the plugin %s registers a raw hook, which may change everything that goes to the model", s.ID)
		}
		notes = append(notes, home.Note{Code: home.Code(plugins.PluginRawHooks), Severity: home.Info, Plugin: s.ID, Text: text}.Cleaned())
	}
	return notes
}
