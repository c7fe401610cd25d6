package builtin

import (
	"context"
	"errors"
	"strings"

	"github.com/crystalkernel/crystal/internal/plaintext"
	"github.com/crystalkernel/crystal/points/thread"
	"github.com/crystalkernel/crystal/points/tool"
)

// ErrDismissed is returned by an Asker whose operator did not answer.
var ErrDismissed = errors.New("builtin: the operator did not answer")

// Question is what the model asks the operator. Free text is always possible as an answer.
type Question struct {
	Thread   string
	Text     string
	Options  []string // at most ten
	Multiple bool     // several options may be chosen
}

// Asker puts a question to the operator and waits for the answer, as long as ctx lives. Calls for different threads may
// overlap. It returns [ErrDismissed] when there is no answer; another error fails the call as well.
type Asker interface {
	AskQuestion(ctx context.Context, q Question) (answer string, err error)
}

var questionTool = kind{
	name: "question",
	description: "Asks the operator a question and returns the answer. Use it only when the work can't go on without a decision that is theirs. " +
		"options are up to ten answers to choose from, with multiple several of them; another answer is always possible.",
	schema: `{"type":"object","properties":{"question":{"type":"string","minLength":1},"options":{"type":"array","maxItems":10,` +
		`"items":{"type":"string","minLength":1}},"multiple":{"type":"boolean"}},"required":["question"],"additionalProperties":false}`,
	hints: tool.Hints{ReadOnly: true}, catalogs: tool.CatalogBoth, timeout: tool.Unlimited,
	classify: classifyHarmless, run: (*Source).question,
}

func (s *Source) question(ctx context.Context, i *tool.Invocation) tool.Result {
	var args struct {
		Question string   `json:"question"`
		Options  []string `json:"options"`
		Multiple bool     `json:"multiple"`
	}
	if err := arguments(i.Arguments, &args); err != nil {
		return invalid("The arguments can't be read: %v.", err)
	}
	if s.asker == nil {
		// It counts as a denial, as an approval that nobody can give.
		r := tool.Failed(tool.CodeApprovalRejected, "Nobody is there to answer. Decide by what is known, and say what was assumed.")
		r.Error.Params = map[string]any{"by": "no_operator"}
		return r
	}
	defer s.asking(i)()
	answer, err := s.asker.AskQuestion(ctx, Question{Thread: i.Thread, Text: args.Question, Options: args.Options, Multiple: args.Multiple})
	switch {
	case ctx.Err() != nil:
		return cancelled()
	case errors.Is(err, ErrDismissed):
		r := tool.Failed(tool.CodeApprovalRejected, "the operator did not answer")
		r.Error.Params = map[string]any{"by": "operator"}
		return r
	case err != nil:
		return failed("The question could not be asked.")
	case strings.TrimSpace(answer) == "":
		answer = "(an empty answer)"
	}
	return succeeded(plaintext.Clean(answer), facts{})
}

// asking tells observers that the operator is asked, and returns what tells them that this is over.
func (s *Source) asking(i *tool.Invocation) (over func()) {
	if s.signal == nil {
		return func() {}
	}
	about := thread.Signal{Kind: thread.UserInputRequested, Thread: i.Thread, Turn: i.Turn, CallID: i.CallID}
	s.signal(about)
	return func() {
		about.Kind = thread.UserInputResolved
		s.signal(about)
	}
}
