package prompt

import (
	"context"
	"time"

	"github.com/crystalkernel/crystal/contrib"
)

// ThreadContext adds a page that is built once for each thread and kept: a later read of the same page gives the same
// bytes. Calls may overlap. At most 64 KiB.
type ThreadContext interface {
	// PageKey is unique in the plugin, 1 to 64 bytes. It is read once, at the add.
	PageKey() string
	// Section feeds the section thread-context.
	Section(ctx context.Context, thread string) (string, error)
}

// ThreadContextFunc makes a thread context of a key and a function.
func ThreadContextFunc(key string, section func(ctx context.Context, thread string) (string, error)) ThreadContext {
	return threadContextFunc{key, section}
}

type threadContextFunc struct {
	key     string
	section func(context.Context, string) (string, error)
}

func (f threadContextFunc) PageKey() string { return f.key }
func (f threadContextFunc) Section(ctx context.Context, thread string) (string, error) {
	return f.section(ctx, thread)
}

// ThreadContexts is the point prompt.thread_context.
var ThreadContexts = contrib.Define(contrib.Spec[ThreadContext]{
	Name: "prompt.thread_context", Doc: "Adds a page that is built once for each thread.",
	Tiers: contrib.TierA, Scopes: contrib.WorkspaceAndThread,
	Evaluation: contrib.PerPrompt, Failure: contrib.Skip, Deadline: 10 * time.Second,
	Describe: describeThreadContext,
	Guard:    guardThreadContext,
})
