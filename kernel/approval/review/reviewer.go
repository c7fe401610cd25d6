package review

import (
	"context"
	"fmt"
	"strings"

	"github.com/crystalkernel/crystal/kernel/approval"
	"github.com/crystalkernel/crystal/points/dispatch"
	"github.com/crystalkernel/crystal/points/model"
)

// Completer makes one completion without streaming and without tools, with the gear of reviews, outside of hooks and of
// the turn's budget. Calls may overlap. An error leaves the decision to the operator.
type Completer interface {
	Complete(ctx context.Context, system, user string) (string, error)
}

// CompleterFunc adapts a function to Completer.
type CompleterFunc func(ctx context.Context, system, user string) (string, error)

// Complete calls f.
func (f CompleterFunc) Complete(ctx context.Context, system, user string) (string, error) {
	return f(ctx, system, user)
}

// Conversations gives the reviewer what was said in a thread: the summaries, and the items that are not folded into them,
// in order. Neither is changed. Calls may overlap.
type Conversations interface {
	Conversation(thread string) (summaries []string, items []*model.Item)
}

// ConversationsFunc adapts a function to Conversations.
type ConversationsFunc func(thread string) ([]string, []*model.Item)

// Conversation calls f.
func (f ConversationsFunc) Conversation(thread string) ([]string, []*model.Item) { return f(thread) }

// Config sets up a Reviewer. Completer and Conversations are required.
type Config struct {
	Completer     Completer
	Conversations Conversations
	// System is the system text. Blank: DefaultSystem.
	System string
	// User is the text that holds the call. Blank: DefaultUser. In it {{conversation}}, {{tool_name}}, {{tool_arguments}},
	// {{host_risk}}, {{host_authority}} and {{classification_summary}} stand for what their names say.
	User string
}

// Reviewer asks a model about calls. It is immutable.
type Reviewer struct{ config Config }

// New makes a reviewer.
func New(c Config) *Reviewer {
	if c.System == "" {
		c.System = DefaultSystem
	}
	if c.User == "" {
		c.User = DefaultUser
	}
	return &Reviewer{c}
}

var _ approval.Reviewer = (*Reviewer)(nil)

// Review asks about one call. It fails with approval.ErrNoEvidence, and makes no request, when nobody has said anything in
// the thread.
func (r *Reviewer) Review(ctx context.Context, c dispatch.Call) (approval.Review, error) {
	excerpt, ok := Excerpt(r.config.Conversations.Conversation(c.Thread))
	if !ok {
		return approval.Review{}, approval.ErrNoEvidence
	}
	name := ""
	if c.Definition != nil {
		name = c.Definition.Canonical()
	}
	k := c.Classification
	// One pass: what a value holds is not looked at for names again.
	user := strings.NewReplacer(
		"{{conversation}}", excerpt, "{{tool_name}}", name, "{{tool_arguments}}", string(c.Arguments),
		"{{host_risk}}", k.Risk.String(), "{{host_authority}}", k.Authority.String(), "{{classification_summary}}", k.Summary,
	).Replace(r.config.User)
	text, err := r.config.Completer.Complete(ctx, r.config.System, user)
	if err != nil {
		return approval.Review{}, fmt.Errorf("review: asking the model about %s: %w", name, err)
	}
	return Answer(text), nil
}
