package model

import (
	"context"
	"errors"
)

// ErrNoSession is returned by [Clients] as long as no thread is open.
var ErrNoSession = errors.New("model: no session is open")

// Clients lets a plugin ask the models of the host. A constructor that asks for it opts in, and the operator gets a note
// that names the plugin: each call spends the operator's credentials. Calls stay outside of transcript, approval, hooks and
// the budget of a turn. A round makes one attempt; the model is the host's choice, whatever the request names.
//
// A client is made at the first read, beside those that turns and reviews have, and later reads return the same one until
// the host drops it: when the model is another one, or review is not independent any more. A dropped client finishes its
// calls. Reads may overlap, and a client that takes its time to be made keeps nobody from the others. When the generation of
// the plugin stops, running calls end and later ones fail with an error that matches generations.ErrStopping.
//
// Sessions are told apart as in [Facts].
type Clients interface {
	// Session returns the text client for the model of the session.
	Session(ctx context.Context) (Client, error)
	// Images returns a client for the model of the session that takes images; nil when there is none.
	Images(ctx context.Context) (Client, error)
	// IndependentReview reports whether reviews have a model of their own. It makes no client.
	IndependentReview() bool
	// Review returns the client for the model of reviews; nil when they have none of their own.
	Review(ctx context.Context) (Client, error)
}
