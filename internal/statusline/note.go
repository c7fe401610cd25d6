package statusline

import (
	"fmt"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/internal/terminal"
	"github.com/crystalkernel/crystal/plugins"
	"github.com/crystalkernel/crystal/points/status"
)

// CodeUnknown says that a plugin has set a text for a status field that is not its own.
const CodeUnknown = "StatusFieldUnknown"

func unknown(o contrib.Origin, name string) contrib.Diagnostic {
	return contrib.Diagnostic{
		Code: CodeUnknown, Severity: contrib.Warning, Point: status.Fields.Name(), Origin: o,
		Message: fmt.Sprintf("the plugin %s has no status field %q; the text is dropped", o.ID(), shortened(name)),
		Params:  map[string]any{"pluginId": o.ID(), "name": shortened(name)},
	}
}

func leftOut(o status.Omitted) contrib.Diagnostic {
	why := map[string]string{
		status.ReasonInvalid:   "the name has to be words of letters and digits joined by single hyphens, 32 characters at most",
		status.ReasonReserved:  "the name belongs to the host",
		status.ReasonDuplicate: "an earlier plugin has the name",
	}[o.Reason]
	return contrib.Diagnostic{
		Code: string(plugins.PluginContributionInvalid), Severity: contrib.Warning, Point: o.Entry.Point, EntryID: o.Entry.ID,
		Origin:  o.Entry.Origin,
		Message: fmt.Sprintf("the status field %q of %s is left out: %s", shortened(o.Name), o.Entry.Origin.ID(), why),
		Params:  map[string]any{"point": o.Entry.Point, "name": shortened(o.Name), "reasonCode": o.Reason},
	}
}

func shortened(name string) string { return terminal.Line(name, maxText) }
