package shellrisk

import (
	"github.com/crystalkernel/crystal/internal/builtin/fence"
	"github.com/crystalkernel/crystal/points/tool"
)

// Classify judges a command line, seen from a workspace.
func Classify(command string, f *fence.Fence) tool.Classification {
	return tool.Classification{Risk: tool.Privileged, Authority: tool.PrivilegedEscalation, Summary: "command could not be parsed"}
}
