// Package retry is the built-in middleware [model.Retry]: it sends the same prepared request again when a model request
// fails in a way that may pass.
//
// Whether an error may pass is the client's to say ([model.Error.Retryable]); how long to wait is decided here, from
// [Settings]. Before each wait the consumer gets a [model.RetryDelta]: what it got before belongs to an attempt that
// failed. A cancelled context ends a wait at once.
//
//	app := fx.New(retry.Module, fx.Supply(retry.Settings{Attempts: 3, BaseDelay: time.Second, MaxDelay: time.Minute}))
//
// A round that succeeds at once costs one closure more than without the middleware.
package retry
