package prompt

import (
	"context"
	"time"

	"github.com/crystalkernel/crystal/contrib"
)

// Chat describes the model request that context is asked for.
type Chat struct {
	Thread, Turn, Workspace, Mode string
	Provider, Model               string
}

// ChatContext adds what depends on the running turn. It is read for each model request. Blank is nothing; at most 64 KiB
// of text, and 64 lines of 1,024 bytes. Calls may overlap.
type ChatContext interface {
	// Section feeds the section chat-context.
	Section(ctx context.Context, c Chat) (string, error)
	// RuntimeLines are appended to the user turn of this request.
	RuntimeLines(ctx context.Context, c Chat) ([]string, error)
}

// Limits of prompt.chat_context and prompt.thread_context, in bytes and lines.
const (
	MaxContext     = 64 << 10
	MaxRuntimeLine = 1024
	MaxLines       = 64
)

// ChatContexts is the point prompt.chat_context.
var ChatContexts = contrib.Define(contrib.Spec[ChatContext]{
	Name: "prompt.chat_context", Doc: "Adds text that depends on the running turn.",
	Tiers: contrib.TierA, Scopes: contrib.WorkspaceAndThread,
	Evaluation: contrib.PerCall, Failure: contrib.Skip, Deadline: 10 * time.Second,
	Guard: guardChatContext,
})
