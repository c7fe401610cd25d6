package hook

import (
	"context"
	"time"

	"github.com/crystalkernel/crystal/contrib"
)

// UserMessage is the contract of hook.user_message.
//
// UserMessage returns another text, or ok false to keep it. The text is trimmed; blank is refused. Calls may
// overlap; the hook owns its arguments, which are copies.
type UserMessage interface {
	UserMessage(ctx context.Context, s Scope, text string) (replacement string, ok bool, err error)
}

// UserMessageFunc makes a UserMessage of a function.
func UserMessageFunc(f func(ctx context.Context, s Scope, text string) (replacement string, ok bool, err error)) UserMessage {
	return userMessageFunc(f)
}

type userMessageFunc func(ctx context.Context, s Scope, text string) (replacement string, ok bool, err error)

func (f userMessageFunc) UserMessage(ctx context.Context, s Scope, text string) (replacement string, ok bool, err error) {
	return f(ctx, s, text)
}

// UserMessages is the point hook.user_message.
var UserMessages = contrib.Define(contrib.Spec[UserMessage]{
	Name: "hook.user_message", Doc: "Replaces the text of a user message before it is stored.",
	Tiers: contrib.TierA, Scopes: contrib.WorkspaceAndThread,
	Evaluation: contrib.PerCall, Failure: contrib.Skip, Deadline: 10 * time.Second,
	Guard: guardUserMessage,
})
