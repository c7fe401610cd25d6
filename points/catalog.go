package points

import (
	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/points/agent"
	"github.com/crystalkernel/crystal/points/command"
	"github.com/crystalkernel/crystal/points/compaction"
	"github.com/crystalkernel/crystal/points/dispatch"
	"github.com/crystalkernel/crystal/points/generator"
	"github.com/crystalkernel/crystal/points/hook"
	"github.com/crystalkernel/crystal/points/host"
	"github.com/crystalkernel/crystal/points/model"
	"github.com/crystalkernel/crystal/points/prompt"
	"github.com/crystalkernel/crystal/points/rawhook"
	"github.com/crystalkernel/crystal/points/status"
	"github.com/crystalkernel/crystal/points/subagent"
	"github.com/crystalkernel/crystal/points/thread"
	"github.com/crystalkernel/crystal/points/tool"
	"github.com/crystalkernel/crystal/points/trace"
)

// Catalog returns every point of Crystal, in the order of the documentation. The slice is the caller's.
func Catalog() []contrib.AnyPoint {
	return []contrib.AnyPoint{
		tool.Sources, tool.Restrictions, tool.Classifiers,
		prompt.Sections, prompt.Assemblers, prompt.ChatContexts, prompt.ThreadContexts, prompt.Placeholders,
		agent.Contexts,
		model.Middlewares, model.Protocols,
		dispatch.Policies, dispatch.Approvers, dispatch.Recorders, dispatch.Normalizers,
		thread.Observers, thread.TurnObservers, thread.Signals,
		command.Prompts, command.Actions,
		compaction.Summarizers, compaction.ToolPolicies,
		subagent.Runtimes,
		trace.Sinks,
		generator.CommitMessages, generator.Welcomes,
		host.Attachments, status.Fields,
		hook.Sessions, hook.Prompts, hook.UserMessages, hook.Turns, hook.TransformModels, hook.ModelResponses,
		hook.ToolCalls, hook.ToolResults, hook.Approvals, hook.Compactions,
		rawhook.RebuildModels, rawhook.RewritePrompts, rawhook.RewriteCompactions, rawhook.RewriteApprovals,
	}
}
