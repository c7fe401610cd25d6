// Package review is the approval reviewer that asks a model.
//
//	r := review.New(review.Config{Completer: client, Conversations: threads})
//	stage := approval.New(settings, operator, r)
//
// A [Reviewer] shows the model the call, how the host classified it, and an [Excerpt] of the conversation, and reads the
// [Answer]. It makes one request for a call, and none without evidence. Whatever is not a clear answer leaves the decision
// to the operator; time and cancellation are those of the stage.
//
// The package doesn't know how a model is reached: the host gives it a [Completer].
package review
