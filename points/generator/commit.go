package generator

import (
	"context"
	"time"

	"github.com/crystalkernel/crystal/contrib"
)

// CommitRequest asks for a commit message.
type CommitRequest struct {
	Workspace string
	Diff      string // what is to be committed, in the form of diff -u or git diff
	Hint      string // what the operator says about it; may be blank
}

// CommitMessage is a suggestion; at most 8 KiB in all.
type CommitMessage struct {
	Title string
	Body  string
}

// MaxCommitMessage is the largest commit message in bytes.
const MaxCommitMessage = 8 << 10

// CommitMessageGenerator suggests a commit message. The last entry of the list has authority. Nothing returned is an
// empty suggestion.
type CommitMessageGenerator interface {
	Suggest(ctx context.Context, r CommitRequest) (*CommitMessage, error)
}

// CommitMessageFunc makes a CommitMessageGenerator of a function.
func CommitMessageFunc(f func(ctx context.Context, r CommitRequest) (*CommitMessage, error)) CommitMessageGenerator {
	return commitMessageFunc(f)
}

type commitMessageFunc func(ctx context.Context, r CommitRequest) (*CommitMessage, error)

func (f commitMessageFunc) Suggest(ctx context.Context, r CommitRequest) (*CommitMessage, error) {
	return f(ctx, r)
}

// CommitMessageTarget is the target of the built-in generator.
const CommitMessageTarget = "commit-message"

// CommitMessages is the point generator.commit_message.
var CommitMessages = contrib.Define(contrib.Spec[CommitMessageGenerator]{
	Name: "generator.commit_message", Doc: "Suggests a commit message.",
	Tiers: contrib.TierB, Scopes: contrib.WorkspaceOnly,
	Evaluation: contrib.PerCall, Failure: contrib.Fail, Deadline: 60 * time.Second,
	Targets: []contrib.Target{{Name: CommitMessageTarget, Order: 100, Doc: "Asks the model of the session."}},
	Guard:   guardCommitMessage,
})
