package crystalcmd

import (
	"github.com/crystalkernel/crystal/internal/home"
	"github.com/crystalkernel/crystal/internal/statusline"
	"github.com/crystalkernel/crystal/plugins"
)

// active reports whether a generation is the one that its plugin runs in.
func (h *host) active(id, generation string) bool {
	s, ok := h.plugins.Snapshot().Find(id)
	return ok && s.State == plugins.Active && s.Generation == generation
}

// recorded are the notes about what plugins got from the host or were refused.
func (h *host) recorded() []home.Note {
	var notes []home.Note
	for _, d := range h.registry.Diagnostics() {
		switch d.Code {
		case statusline.CodeUnknown, string(plugins.PluginContributionInvalid), string(plugins.PluginModelClients):
			notes = append(notes, home.Note{
				Code: home.Code(d.Code), Severity: home.Severity(d.Severity), Plugin: d.Origin.ID(), Point: d.Point, Text: d.Message,
			}.Cleaned())
		}
	}
	return notes
}
