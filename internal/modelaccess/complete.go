package modelaccess

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/crystalkernel/crystal/kernel/approval"
	"github.com/crystalkernel/crystal/kernel/approval/review"
	"github.com/crystalkernel/crystal/kernel/retry"
	"github.com/crystalkernel/crystal/points/model"
)

// Errors of [Access.Complete].
var (
	// ErrNoAnswer is returned when the model answered without text.
	ErrNoAnswer = errors.New("modelaccess: the model gave no answer")
	// ErrCutAnswer is returned for an answer that the provider cut or withheld.
	ErrCutAnswer = errors.New("modelaccess: the answer is not whole")
)

// Complete asks the model of the session one question, without tools, and returns the text of its answer. It is sent again
// when it fails in a way that may pass. The session is that of the turn that ctx belongs to, or the active one; without one
// the error is [model.ErrNoSession].
func (a *Access) Complete(ctx context.Context, system, user string) (string, error) {
	return a.complete(ctx, forText, system, user)
}

// Reviewer returns a reviewer of calls that asks the model of reviews, or where they have none of their own that of the
// session whose call it is.
func (a *Access) Reviewer() approval.Reviewer {
	return review.New(review.Config{
		Completer: review.CompleterFunc(func(ctx context.Context, system, user string) (string, error) {
			own, err := a.review()
			switch {
			case err != nil:
				return "", fmt.Errorf("modelaccess: the model of reviews: %w", err)
			case own != nil:
				return a.complete(ctx, forReview, system, user)
			}
			return a.complete(ctx, forText, system, user)
		}),
		Conversations: review.ConversationsFunc(a.kernel.Conversation),
	})
}

func (a *Access) complete(ctx context.Context, p purpose, system, user string) (string, error) {
	_, s, client, err := a.find(ctx, p)
	if err == nil && client == nil {
		err = model.ErrNoSession
	}
	if err == nil {
		client, err = retry.New(a.config.Retry).Wrap(ctx, client, model.PipelineInfo{Kind: model.Agent})
	}
	if err != nil {
		return "", fmt.Errorf("modelaccess: no client: %w", err)
	}
	answer, err := client.Round(ctx, fitted(&model.Request{
		System: system, Items: []*model.Item{{ID: "i1", Kind: model.Message, Role: model.User, Text: user}},
	}, s, p), func(model.Delta) error { return ctx.Err() })
	if err != nil {
		return "", fmt.Errorf("modelaccess: ask the model: %w", err)
	}
	if answer == nil {
		return "", ErrNoAnswer
	}
	if f := answer.Finish; f == model.FinishLength || f == model.FinishContentFilter || f == model.FinishContextOverflow {
		return "", fmt.Errorf("%w: the provider ended it with %q", ErrCutAnswer, f)
	}
	var text strings.Builder
	for _, i := range answer.Items {
		if i.Kind == model.Message && i.Role == model.Assistant {
			text.WriteString(i.Text)
		}
	}
	if strings.TrimSpace(text.String()) == "" {
		return "", ErrNoAnswer
	}
	return text.String(), nil
}
