package kernel

import (
	"context"

	"github.com/crystalkernel/crystal/points/subagent"
)

// OwnRuntime is the type of the kernel's own runtime of subagents.
const OwnRuntime = "kernel"

// ownRuntime runs subagents as threads of the kernel.
type ownRuntime struct{}

func (r ownRuntime) Runtime() subagent.Runtime { return r }
func (ownRuntime) Type() string                { return OwnRuntime }

func (ownRuntime) Profiles() []subagent.Profile {
	return []subagent.Profile{
		{
			Name: "explore", Description: "Looks through the workspace and answers a question about it. It changes nothing.",
			Tools:  []string{"glob", "grep", "list", "read"},
			Prompt: exploreRole,
		},
		{
			Name: "general", Description: "Does a piece of work with all tools of this agent.",
			Prompt: generalRole,
		},
	}
}

const exploreRole = `# Your part

You are a subagent. Another agent has given you one question about the workspace. Look until you can answer it, change nothing, and answer
in one message: what you found, with paths and line numbers, and what you could not find. Nobody can answer questions of yours.`

const generalRole = `# Your part

You are a subagent. Another agent has given you one task. Do it completely and report in one message: what you did, what came of it, and
what is left to do. The other agent sees that message and nothing else. Nobody can answer questions of yours.`

// childKey is the key of the subagent in the context of its session.
type childKey struct{}

// Create makes the session of a task that [Kernel.runTask] started.
func (ownRuntime) Create(ctx context.Context, _ subagent.Spec) (subagent.Session, error) {
	c, ok := ctx.Value(childKey{}).(*child)
	if !ok {
		return nil, errNoTurn
	}
	return ownSession{c}, nil
}

type ownSession struct{ child *child }

// Run runs the task as a turn.
func (s ownSession) Run(ctx context.Context, in subagent.Input, _ func(subagent.Event) error) (*subagent.Outcome, error) {
	r, err := s.child.run(ctx, in.Text)
	if err != nil {
		return nil, err
	}
	if r.Stop == Completed {
		return &subagent.Outcome{Text: r.Text}, nil
	}
	text := "The subagent stopped before it was done: " + string(r.Stop) + "."
	if r.Text != "" {
		text += " It said last:\n\n" + r.Text
	}
	return &subagent.Outcome{Text: text, Failed: true}, ctx.Err()
}

// Cancel does nothing: the run ends with its context.
func (ownSession) Cancel(context.Context) error { return nil }

// Close does nothing: the thread ends with the call.
func (ownSession) Close(context.Context) error { return nil }
