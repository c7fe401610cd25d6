package points_test

import (
	"go.uber.org/fx"

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
	"github.com/crystalkernel/crystal/points/thread"
	"github.com/crystalkernel/crystal/points/tool"
	"github.com/crystalkernel/crystal/points/trace"
)

// All adapters of functions, supplied as a plugin's author writes it. That this compiles is the test: an adapter gives the
// type of its point, so that nothing more has to be said.
var _ = []fx.Option{
	contrib.Supply(model.Middlewares, model.MiddlewareFunc("n", nil)),
	contrib.Supply(trace.Sinks, trace.SinkFunc("n", nil)),
	contrib.Supply(compaction.ToolPolicies, compaction.ToolPolicyFunc("n", nil)),
	contrib.Supply(compaction.Summarizers, compaction.SummarizerFunc(nil)),
	contrib.Supply(agent.Contexts, agent.SourceFunc(nil)),
	contrib.Supply(thread.Signals, thread.SignalFunc(nil)),
	contrib.Supply(generator.CommitMessages, generator.CommitMessageFunc(nil)),
	contrib.Supply(command.Prompts, command.PromptFunc(command.Spec{}, nil)),
	contrib.Supply(command.Actions, command.ActionFunc(command.Spec{}, nil)),
	contrib.Supply(dispatch.Policies, dispatch.PolicyFunc(nil)),
	contrib.Supply(dispatch.Approvers, dispatch.ApproverFunc(nil)),
	contrib.Supply(dispatch.Normalizers, dispatch.NormalizerFunc(nil)),
	contrib.Supply(prompt.Placeholders, prompt.PlaceholderFunc("n", nil)),
	contrib.Supply(prompt.ThreadContexts, prompt.ThreadContextFunc("k", nil)),
	contrib.Supply(prompt.Assemblers, prompt.AssemblerFunc(nil)),
	contrib.Supply(prompt.Sections, prompt.SectionFunc("n", nil)),
	contrib.Supply(tool.Sources, tool.SourceFunc("n", nil)),
	contrib.Supply(tool.Sources, tool.Fixed("n")),
	contrib.Supply(tool.Restrictions, tool.RestrictionFunc(nil)),
	contrib.Supply(tool.Classifiers, tool.ClassifierFunc(nil)),
	contrib.Supply(host.Attachments, host.AttachedFunc(nil)),
	contrib.Supply(rawhook.RewritePrompts, rawhook.RewritePromptFunc(nil)),
	contrib.Supply(rawhook.RewriteCompactions, rawhook.RewriteCompactionFunc(nil)),
	contrib.Supply(rawhook.RewriteApprovals, rawhook.RewriteApprovalFunc(nil)),
	contrib.Supply(rawhook.RebuildModels, rawhook.RebuildModelFunc(nil)),
	contrib.Supply(hook.Compactions, hook.CompactionFunc(nil)),
	contrib.Supply(hook.ToolCalls, hook.ToolCallFunc(nil)),
	contrib.Supply(hook.Approvals, hook.ApprovalFunc(nil)),
	contrib.Supply(hook.Prompts, hook.PromptFunc(nil)),
	contrib.Supply(hook.ModelResponses, hook.ModelResponseFunc(nil)),
	contrib.Supply(hook.TransformModels, hook.TransformModelFunc(nil)),
	contrib.Supply(hook.UserMessages, hook.UserMessageFunc(nil)),
	contrib.Supply(hook.ToolResults, hook.ToolResultFunc(nil)),
}
