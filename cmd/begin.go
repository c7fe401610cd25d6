package crystalcmd

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/crystalkernel/crystal/cmd/internal/headless"
	"github.com/crystalkernel/crystal/internal/home"
	"github.com/crystalkernel/crystal/kernel"
	"github.com/crystalkernel/crystal/plugins"
)

// begin is what the printer is told before the turn.
func (j *job) begin(ctx context.Context, h *host, th *kernel.Thread) headless.Init {
	mode := j.config.Mode
	if j.resumed != nil && j.settings.mode == "" {
		mode = j.resumed.Mode
	}
	i := headless.Init{
		Thread: th.ID(), Version: release, Workspace: th.Workspace(), Provider: j.choice.Provider.Name, Model: j.choice.Model,
		Mode: mode, Approval: th.Approval(), Resumed: j.resumed != nil,
	}
	if j.settings.json {
		// Only the line init shows the tools; the turn plans its own.
		o := kernel.Options{Mode: mode, Model: j.choice.Provider.Name + "/" + j.choice.Model}
		if snapshot, _, err := h.kernel.PlanTools(ctx, th.ID(), o); err == nil {
			for _, t := range snapshot.Models() {
				i.Tools = append(i.Tools, t.Name)
			}
		}
	}
	for _, s := range h.plugins.Snapshot().Plugins {
		i.Plugins = append(i.Plugins, headless.Plugin{ID: s.ID, Version: s.Version, Source: string(s.Source), State: string(s.State)})
	}
	for _, n := range slices.Concat(j.notes, h.notes) {
		i.Problems = append(i.Problems, headless.Problem{Code: string(n.Code), Plugin: n.Plugin, Directory: n.Directory, Text: n.Text})
		i.Notes = append(i.Notes, headless.Note{Text: noteLine(n)})
	}
	if j.choice.Fallback {
		i.Notes = append(i.Notes, headless.Note{Text: offlineNotice})
	}
	return i
}

// offlineNotice says that nothing is configured.
const offlineNotice = "no model is configured and no key was found: the offline model answers; choose one with -m provider/model"

// problems are the findings of the plugins' activation, one for each cause.
func (h *host) problems() []home.Note {
	var notes []home.Note
	seen := make(map[string]bool)
	add := func(n home.Note) {
		if line := noteLine(n); !seen[line] {
			seen[line] = true
			notes = append(notes, n)
		}
	}
	for _, s := range h.plugins.Snapshot().Plugins {
		for _, b := range s.Blockers {
			add(finding(s, b.Code, home.Error, b.Text, b.Params))
		}
		for _, d := range s.Diagnostics {
			add(finding(s, d.Code, home.Severity(d.Severity), d.Text, d.Params))
		}
	}
	return notes
}

// finding is one finding about a plugin as a note.
func finding(s plugins.Status, c plugins.Code, severity home.Severity, text string, params map[string]any) home.Note {
	line := "plugin " + s.ID + ": " + text
	var facts []string
	for _, key := range sortedKeys(params) {
		if v := fmt.Sprint(params[key]); v != "" && key != "pluginId" && key != "generationId" {
			facts = append(facts, key+" "+v)
		}
	}
	if len(facts) > 0 {
		line += " (" + strings.Join(facts, ", ") + ")"
	}
	return home.Note{Code: home.Code(c), Severity: severity, Plugin: s.ID, Directory: s.Directory, Source: string(s.Source), Text: line}.Cleaned()
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
