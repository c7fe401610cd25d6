package compaction

import (
	"context"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/points/compaction"
)

// Module contributes the built-in summariser and the built-in list of tools whose results may be dropped.
var Module = contrib.ProvideSet(builtin)

func builtin() contrib.Set {
	return contrib.Set{
		contrib.Item[compaction.Summarizer](compaction.Summarizers, compaction.SummarizerFunc(localSummary),
			contrib.Named(compaction.LocalSummary), contrib.Order(100)),
		contrib.Item[compaction.ToolPolicy](compaction.ToolPolicies, toolNames{},
			contrib.Named(compaction.BuiltinToolNames), contrib.Order(100)),
	}
}

// localSummary asks the thread's own model.
func localSummary(ctx context.Context, r compaction.Request) (*compaction.Summary, error) {
	text, err := r.Local(ctx)
	if err != nil {
		return nil, err
	}
	return &compaction.Summary{Text: text}, nil
}

// toolNames is the policy for built-in tools: what they put out can be had again by calling them again. What the
// operator answered, and the instructions of a skill, can't.
type toolNames struct{}

// Name returns the policy's name.
func (toolNames) Name() string { return compaction.BuiltinToolNames }

// Compactable knows the built-in tools.
func (toolNames) Compactable(_ context.Context, tool string) (yes, known bool, err error) {
	switch tool {
	case "read", "list", "glob", "grep", "bash", "edit", "write":
		return true, true, nil
	case "todowrite", "todoread", "question", "skill":
		return false, true, nil
	}
	return false, false, nil
}
